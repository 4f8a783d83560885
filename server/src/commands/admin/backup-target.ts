import { readFile } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { listRepositoryIds, resealDataKey } from '../../backup-target/data-key.ts'
import { verifyBucket } from '../../backup-target/verify.ts'
import {
  addTarget,
  changeTarget,
  getTarget,
  listTargets,
  lockedByTarget,
  openTarget,
  removeTarget,
  restorableIn,
  type TargetInput,
  type TargetRow,
} from '../../features/backup-targets/service.ts'
import { listControlPlaneBackups, setControlPlaneDays, type BackupStateRow } from '../../features/control-plane-backups/service.ts'
import { vaultFrom, type Vault } from '../../kernel/crypto.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { onlyRegion } from './only-region.ts'
import { readSecret, unreadable } from './read-secret.ts'

/** For what is tried before it is stored. */
const TRY_MS = 60_000

export function backupTargetCommands(program: Command): void {
  const target = program.command('backup-target').description('buckets for the backups of VMs, one for a region')
  adminCommand(target.command('list').description('list backup targets'), 'backup-target list', list)
  adminCommand(
    withSettings(
      target
        .command('add')
        .description('add the backup target of a region, after it was tried')
        .argument('<kind>', 's3: any server that speaks it', parseKind)
        .option('--region <slug>', 'by default the only one')
        .requiredOption('--endpoint <url>', 'such as https://s3.eu-central-1.amazonaws.com')
        .requiredOption('--bucket <name>', 'which exists')
        .requiredOption('--access-key <id>')
        .requiredOption('--secret-file <file>', 'holds the secret key; - reads it from standard input'),
    ),
    'backup-target add s3 --region fra1 --endpoint https://s3.example.com --bucket backups --access-key AKEXAMPLE --secret-file secret',
    add,
  )
  adminCommand(
    withSettings(
      target
        .command('set')
        .description('change a backup target, after the change was tried')
        .option('--region <slug>', 'by default the only one')
        .option('--endpoint <url>')
        .option('--bucket <name>', 'what the old one holds must be copied there first')
        .option('--access-key <id>')
        .option('--secret-file <file>', 'holds the secret key; - reads it from standard input'),
    ),
    'backup-target set --region fra1 --bandwidth 50 --lock-days 30',
    set,
  )
  adminCommand(
    target.command('remove').description('forget a backup target; its objects stay').option('--region <slug>', 'by default the only one'),
    'backup-target remove --region fra1',
    remove,
    ({ region }: RegionOption) =>
      `The backup target of ${region ? `region ${region}` : 'the only region'} is forgotten with its keys, and backups are kept on hosts again. It is refused while it has backups of VMs.`,
  )
  adminCommand(
    target
      .command('verify')
      .description('read every backup in the bucket, and check it bit by bit')
      .option('--region <slug>', 'by default the only one'),
    'backup-target verify --region fra1',
    verify,
  )
  adminCommand(
    target
      .command('rekey')
      .description(
        'seal the data keys in the bucket by the master key of this installation instead of an older one; backups stay as they are',
      )
      .option('--region <slug>', 'by default the only one')
      .requiredOption('--old-key <file>', 'the older master key'),
    'backup-target rekey --region fra1 --old-key /root/old-master.key',
    rekey,
  )
}

const withSettings = (command: Command): Command =>
  command
    .option('--prefix <prefix>', 'of every object, such as berth/fra1/')
    .option('--region-name <name>', 'in signatures; by default us-east-1')
    .option('--bandwidth <MiB per second>', 'of uploads together; none for no limit', parseLimit)
    .option('--lock-days <days>', 'object lock: nobody can delete a backup for so long; none for no lock', parseLimit)
    .option(
      '--control-plane-days <days>',
      'back up the control plane itself daily, and keep that for so long; none for not at all',
      parseLimit,
    )

interface RegionOption {
  region?: string
}

interface Settings extends RegionOption {
  endpoint?: string
  bucket?: string
  accessKey?: string
  secretFile?: string
  prefix?: string
  regionName?: string
  bandwidth?: Limit
  lockDays?: Limit
  controlPlaneDays?: Limit
}

function parseKind(kind: string): string {
  if (kind !== 's3') throw new InvalidArgumentError('It must be s3.')
  return kind
}

/** Commander makes an empty text of null. */
type Limit = number | 'none'

const liftNone = <T extends Limit | undefined>(limit: T): Exclude<T, 'none'> | null =>
  limit === 'none' ? null : (limit as Exclude<T, 'none'>)

function parseLimit(value: string): Limit {
  if (value === 'none') return value
  if (!/^\d{1,6}$/.test(value)) throw new InvalidArgumentError('It must be a whole number, or none.')
  return Number(value)
}

const regionOf = async ({ db }: Admin, { region }: RegionOption): Promise<string> => region ?? (await onlyRegion(db))
const vaultOf = ({ db, config }: Admin): Promise<Vault> => openVerifiedVault(db, config.masterKeyFile)

const COLUMNS = [
  'region',
  'kind',
  'endpoint',
  'bucket',
  'prefix',
  'accessKey',
  'bandwidth',
  'lockDays',
  'controlPlaneDays',
  'controlPlaneAt',
  'lockedGiB',
] as const

type Locked = Awaited<ReturnType<typeof lockedByTarget>>[number]

const shown = (row: TargetRow, region: string, own?: BackupStateRow, locked?: Locked) => ({
  id: row.id,
  region,
  kind: row.kind,
  endpoint: row.endpoint,
  bucket: row.bucket,
  prefix: row.prefix,
  regionName: row.region_name,
  accessKey: row.access_key,
  bandwidth: row.bandwidth_mib,
  lockDays: row.lock_days,
  controlPlaneDays: own?.keep_days ?? null,
  controlPlaneAt: own?.done_at?.toISOString() ?? null,
  controlPlaneError: own?.error ?? null,
  lockedBackups: locked?.backups ?? 0,
  lockedBytes: Number(locked?.bytes ?? 0),
  lockedGiB: (Number(locked?.bytes ?? 0) / 2 ** 30).toFixed(1),
})

const stateOf = async (db: Queries, targetId: string): Promise<BackupStateRow | undefined> =>
  (await listControlPlaneBackups(db)).find(({ target_id }) => target_id === targetId)

async function list({ db }: Admin): Promise<Result> {
  const rows = []
  const locked = await lockedByTarget(db)
  for (const row of await listTargets(db))
    rows.push(
      shown(
        row,
        row.region_slug,
        await stateOf(db, row.id),
        locked.find(({ target_id }) => target_id === row.id),
      ),
    )
  return table(rows, [...COLUMNS], 'There are no backup targets: npx berthd backup-target add --help')
}

async function add(admin: Admin, options: Settings): Promise<Result> {
  const region = await regionOf(admin, options)
  const input: TargetInput = {
    endpoint: options.endpoint!,
    bucket: options.bucket!,
    accessKey: options.accessKey!,
    secretKey: await readSecret(options.secretFile!),
    prefix: options.prefix ?? '',
    regionName: options.regionName ?? 'us-east-1',
    bandwidthMib: liftNone(options.bandwidth ?? 'none'),
    lockDays: liftNone(options.lockDays ?? 'none'),
  }
  const row = await addTarget({ db: admin.db, now: admin.now, vault: await vaultOf(admin) }, region, input, AbortSignal.timeout(TRY_MS))
  if (options.controlPlaneDays !== undefined) await setControlPlaneDays(admin.db, admin.now, row.id, liftNone(options.controlPlaneDays))
  return {
    data: shown(row, region, await stateOf(admin.db, row.id)),
    text: `The bucket ${row.bucket} was tried and is the backup target of region ${region}.`,
  }
}

async function set(admin: Admin, options: Settings): Promise<Result> {
  const { endpoint, bucket, accessKey, secretFile, prefix, regionName, bandwidth, lockDays } = options
  const change = {
    endpoint,
    bucket,
    accessKey,
    prefix,
    regionName,
    lockDays: liftNone(lockDays),
    bandwidthMib: liftNone(bandwidth),
    secretKey: secretFile === undefined ? undefined : await readSecret(secretFile),
  }
  const { controlPlaneDays } = options
  const isChanged = Object.values(change).some((value) => value !== undefined)
  if (!isChanged && controlPlaneDays === undefined)
    throw new UsageError('Nothing to change. For example: npx berthd backup-target set --bandwidth 50')
  const region = await regionOf(admin, options)
  const row = isChanged
    ? await changeTarget({ db: admin.db, vault: await vaultOf(admin) }, region, change as Partial<TargetInput>, AbortSignal.timeout(TRY_MS))
    : await getTarget(admin.db, region)
  if (controlPlaneDays !== undefined) await setControlPlaneDays(admin.db, admin.now, row.id, liftNone(controlPlaneDays))
  const data = shown(row, region, await stateOf(admin.db, row.id))
  return { data, text: table([data], [...COLUMNS], '').text }
}

async function remove(admin: Admin, options: RegionOption): Promise<Result> {
  const region = await regionOf(admin, options)
  const row = await removeTarget(admin.db, region)
  return {
    data: shown(row, region),
    text: `The backup target of region ${region} is forgotten. Its objects are in the bucket ${row.bucket} as before.`,
  }
}

async function verify(admin: Admin, options: RegionOption): Promise<Result> {
  const vault = await vaultOf(admin)
  const target = await getTarget(admin.db, await regionOf(admin, options))
  const store = await openTarget(vault, target)
  const { signal } = new AbortController()
  const { backups, problems } = await verifyBucket(store, vault, await restorableIn(admin.db, target.id), signal).finally(() =>
    store.close(),
  )
  const bad = backups.filter((backup) => backup.problems.length > 0)
  const isOk = bad.length + problems.length === 0
  if (!isOk) process.exitCode = 1
  const { repositoryIdOf } = await import('../../features/images/service.ts') // imported on demand: it loads the features of VMs
  const lines = bad.flatMap(({ vmId, backupId, problems: found }) =>
    found.map((problem) => `${vmId === repositoryIdOf(backupId) ? `Image ${backupId}` : `Backup ${backupId} of VM ${vmId}`}: ${problem}`),
  )
  return {
    data: { ok: isOk, backups, problems },
    text: [...problems, ...lines, `${backups.length - bad.length} of ${backups.length} backups are whole.`].join('\n'),
  }
}

async function rekey(admin: Admin, options: RegionOption & { oldKey: string }): Promise<Result> {
  const vault = await vaultOf(admin)
  const old = (await readFile(options.oldKey, 'utf8').catch(unreadable(options.oldKey))).trim()
  if (!/^[0-9a-f]{64}$/.test(old)) throw new UsageError(`${options.oldKey} must hold the 64 hex digits of a master key`)
  const store = await openTarget(vault, await getTarget(admin.db, await regionOf(admin, options)))
  const { signal } = new AbortController()
  let [changed, unchanged] = [0, 0]
  try {
    for await (const id of listRepositoryIds(store, signal)) {
      if (await resealDataKey(store, { old: vaultFrom(Buffer.from(old, 'hex')), new: vault }, id, signal)) changed++
      else unchanged++
    }
  } finally {
    store.close()
  }
  return { data: { changed, unchanged }, text: `${changed} data keys were sealed again; ${unchanged} had this master key already.` }
}
