// `berthd storage`: pools of Ceph that hold disks apart from hosts.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import {
  addSimulatedStorage,
  addStorageBackend,
  changeStorageBackend,
  getStorageBackend,
  listStorageBackends,
  recordSpace,
  removeStorageBackend,
  storageAboveReserveGiB,
  toBackend,
  type StorageBackendInput,
  type StorageBackendRow,
} from '../../features/storage/service.ts'
import { isDriverError } from '../../hypervisor/errors.ts'
import { ownerMark } from '../../hypervisor/rbd/names.ts'
import type { RbdBackend } from '../../hypervisor/rbd/access.ts'
import type { RbdPool } from '../../hypervisor/rbd/pool.ts'
import type { PoolSpace } from '../../hypervisor/storage-pool.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { explainCephFailure } from './ceph-failure.ts'

export function storageCommands(program: Command): void {
  const storage = program.command('storage').description('pools of Ceph that hold disks apart from hosts')
  adminCommand(storage.command('list').description('list storage backends and their room'), 'storage list', list)
  adminCommand(
    storage
      .command('add')
      .description('add a pool of Ceph RBD; nothing is added unless the pool answers')
      .argument('<name>', 'such as ceph1')
      .requiredOption('--region <slug>')
      .option('--monitors <addresses...>', 'of Ceph, such as 10.0.0.1 10.0.0.2 10.0.0.3')
      .option('--pool <name>', 'made with `ceph osd pool create` and `rbd pool init`')
      .option('--user <name>', 'without client., with the profile rbd for this pool')
      .option('--key-file <file>', 'the key or keyring of the user')
      .option('--simulated <GiB>', 'for simulated hosts, instead of a pool of Ceph', parseGiB)
      .option('--reserve <percent>', 'of the pool that nothing new is written to', parsePercent, DEFAULT_RESERVE),
    'storage add ceph1 --region fra1 --monitors 10.0.0.1 10.0.0.2 10.0.0.3 --pool berth --user berth --key-file berth.keyring',
    add,
  )
  adminCommand(
    storage
      .command('set')
      .description('change how a storage backend is reached; nothing is changed unless the pool answers')
      .argument('<name>')
      .option('--monitors <addresses...>')
      .option('--user <name>', 'without client.')
      .option('--key-file <file>', 'the key or keyring of the user')
      .option('--reserve <percent>', 'of the pool that nothing new is written to', parsePercent),
    'storage set ceph1 --reserve 15',
    set,
  )
  adminCommand(
    storage.command('remove').description('forget a storage backend; what the pool holds stays in it').argument('<name>'),
    'storage remove ceph1',
    remove,
    (_, name) => `Berth forgets storage backend ${name} and its key.`,
  )
}

const DEFAULT_RESERVE = 10
const COLUMNS = [
  'id',
  'name',
  'region',
  'pool',
  'monitors',
  'user',
  'capacityGiB',
  'usedGiB',
  'freeGiB',
  'aboveReserveGiB',
  'reserve',
  'state',
] as const

const toRow = (row: StorageBackendRow, region: string) => ({
  id: row.id,
  name: row.name,
  region,
  pool: row.pool,
  monitors: row.monitors,
  user: row.user_name,
  capacityGiB: row.capacity_gib,
  usedGiB: row.used_gib,
  freeGiB: row.free_gib,
  aboveReserveGiB: storageAboveReserveGiB(row),
  reserve: row.reserve_percent,
  state: row.unreachable_since !== null ? 'unreachable' : row.measured_at === null ? 'not measured' : 'reachable',
})

async function list({ db }: Admin): Promise<Result> {
  const rows = (await listStorageBackends(db)).map((row) => toRow(row, row.region_slug))
  return table(rows, [...COLUMNS], 'There are no storage backends: npx berthd storage add --help')
}

interface AddOptions {
  region: string
  monitors?: string[]
  pool?: string
  user?: string
  keyFile?: string
  simulated?: number
  reserve: number
}

async function add({ config, db, now }: Admin, options: AddOptions, name?: string): Promise<Result> {
  const { region, monitors, pool, user, keyFile, simulated, reserve: reservePercent } = options
  if (simulated !== undefined) {
    const { id } = await db.tx((tx) => addSimulatedStorage(tx, now, { name: name!, region, sizeGiB: simulated, reservePercent }))
    return shown(db, id, region)
  }
  if (monitors === undefined || pool === undefined || user === undefined || keyFile === undefined)
    throw new UsageError('A pool of Ceph needs --monitors, --pool, --user and --key-file: npx berthd storage add --help')
  const input = { name: name!, region, monitors, pool, user, key: await readKey(keyFile), reservePercent }
  const vault = await openVerifiedVault(db, config.masterKeyFile)
  let space: PoolSpace | undefined
  const added = await addStorageBackend(db, vault, now, input, async (backend) => (space = await requireAnswer(backend)))
  await recordSpace(db, added.id, now, space!)
  return shown(db, added.id, region)
}

type SetOptions = Partial<Pick<AddOptions, 'monitors' | 'user' | 'keyFile' | 'reserve'>>

async function set({ config, db }: Admin, { monitors, user, keyFile, reserve }: SetOptions, name?: string): Promise<Result> {
  const change: Partial<StorageBackendInput> = {
    ...(monitors && { monitors }),
    ...(user !== undefined && { user }),
    ...(keyFile !== undefined && { key: await readKey(keyFile) }),
    ...(reserve !== undefined && { reservePercent: reserve }),
  }
  if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. For example: npx berthd storage set ceph1 --reserve 15')
  const vault = await openVerifiedVault(db, config.masterKeyFile)
  const changed = await changeStorageBackend(db, vault, name!, change, requireAnswer)
  return shown(db, changed.id)
}

async function shown(db: Admin['db'], id: string, region?: string): Promise<Result> {
  const row = await getStorageBackend(db, id)
  const slug = region ?? (await listStorageBackends(db)).find((each) => each.id === id)!.region_slug
  const data = toRow(row, slug)
  return { data, text: table([data], [...COLUMNS], '').text }
}

async function remove({ config, db }: Admin, _options: object, name?: string): Promise<Result> {
  const row = await db.tx((tx) => removeStorageBackend(tx, name!))
  const data = { id: row.id, name }
  const removed = `Storage backend ${name} is removed.`
  if (row.kind === 'SIMULATED') return { data, text: removed }
  try {
    await withPool(toBackend(await openVerifiedVault(db, config.masterKeyFile), row), (pool, signal) => pool.release(signal))
    return { data, text: `${removed} What else its pool holds is as it was.` }
  } catch {
    return { data, text: `${removed} Its pool did not answer: before you add it again, run \`rbd rm ${row.pool}/${ownerMark(row.id)}\`.` }
  }
}

/** A bare key, or a keyring as `ceph auth get` prints it. */
async function readKey(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
  })
  return (/^\s*key\s*=\s*(\S+)\s*$/m.exec(text)?.[1] ?? text).trim()
}

const ANSWER_MS = 30_000

/** In a folder of its own: the files of the worker belong to its user. */
async function withPool<T>(backend: RbdBackend, work: (pool: RbdPool, signal: AbortSignal) => Promise<T>): Promise<T> {
  const { openRbdPool } = await import('../../hypervisor/rbd/pool.ts')
  const folder = await mkdtemp(join(tmpdir(), 'berth-storage-'))
  try {
    return await work(openRbdPool(backend, folder), AbortSignal.timeout(ANSWER_MS))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const requireAnswer = (backend: RbdBackend): Promise<PoolSpace> =>
  withPool(backend, async (pool, signal) => {
    const space = await pool.probe(signal)
    await pool.claim(signal)
    return space
  }).catch((error: unknown) => {
    const { message } = error as Error
    const what = isDriverError(error, 'conflict') ? 'is taken' : 'cannot be used'
    const why = explainCephFailure(message, backend) ?? message
    throw new Error(`Pool ${backend.pool} ${what}, so nothing was changed: ${why}`, { cause: error })
  })

function parseGiB(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of GiB.')
  return Number(text)
}

function parsePercent(text: string): number {
  if (!/^\d{1,2}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of percent.')
  return Number(text)
}
