// Images of an account. One that is available is an OS template that only its account sees. Lock order: VM, image, template, quota, hosts, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { moneyKey, numberKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import { nativeArch } from '../../kernel/arch.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { releaseQuotas, reserveQuotas } from '../accounts/service.ts'
import { requireSelected, spenderOf } from '../budgets/service.ts'
import { diskOfBackup, requireBackupAsSource } from '../backups/service.ts'
import { catalogNumbers, deleteTemplate, getTemplateById, lockTemplateUse, setOwnTemplate } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { reserveDisk } from '../hosts/capacity.ts'
import { quoteRemoval, refundUnused, unusedDays } from '../renewals/service.ts'
import { requireSnapshotAsSource } from '../snapshots/service.ts'
import { requireNotHeld, startAction } from '../vms/service.ts'
import { balanceOf, type Quote, requireFunds, toQuote } from '../wallet/service.ts'
import { createImageWorkflow, importImageWorkflow, STORAGE_QUOTA, type ImageInput, type SystemFacts } from './create.workflow.ts'
import { isLocked } from './copies.sql.ts'
import { recordImageEvent } from './events.ts'
import { requireImportBudget } from './failed-imports.ts'
import { COPY, PURGE } from './reconciler-names.ts'
import type { CreateImage, Image, ImageCreated, ImageQuery, UpdateImage } from './schema.ts'
import * as sql from './sql.ts'
import { toImage } from './view.ts'

export { countAvailable, IMAGE_RENEWAL_PRICE } from './sql.ts'
export { repositoryIdOf } from './copies.ts'
export { notStored, templateCopies } from './copies.sql.ts'
export { recordStored, storeNewImage, type Attempt } from './template-images.ts'
export { listTemplateImports, startTemplateImport } from './import-template.ts'
export type { TemplateImportRow } from './template-imports.sql.ts'

const LABEL = 'IMAGE_CREATE'
/** Whoever makes a VM from the image, with keys of their own, reads the VM: as one can who sets its password. */
const MAKES_IMAGES_OF = 'vms:update'

/** `reasonAgainst`: why the URL may not be called. */
export async function createImage(
  tx: Tx,
  deps: Deps,
  who: Principal,
  input: CreateImage,
  reasonAgainst: string | null,
  dryRun = false,
): Promise<ImageCreated | DryRunResult<Quote>> {
  requireOneSource(input)
  const { vmId, snapshotId, backupId, url, checksum } = input
  if (url !== undefined) {
    if (reasonAgainst) throw apiError('url_not_allowed', `The URL may not be called: ${reasonAgainst}`)
    const facts = { arch: input.arch ?? nativeArch(), defaultUser: input.defaultUser ?? 'root', hasAgent: input.guestAgent ?? false }
    const system: SystemFacts = { ...facts, version: '', distribution: 'imported', minRamMib: 0 }
    const source = { type: 'URL', id: url, vmId: null, estimatedGib: 1, stagingHostId: null } as const
    const run = { download: { url, checksum: checksum! }, kind: input.kind ?? 'DISK', system } as const
    return begin(tx, deps, who.accountId, input, source, run, dryRun, (imageId, workflow, given, runId) =>
      deps.workflows.start(tx, workflow, given, { label: LABEL, ownerId: who.accountId, subjectId: imageId, runId }),
    )
  }
  if (vmId !== undefined && !who.scopes.has(MAKES_IMAGES_OF))
    throw apiError('missing_scope', `This token lacks the required scope: ${MAKES_IMAGES_OF}`)
  const snapshot = snapshotId === undefined ? null : await requireSnapshotAsSource(tx, who, snapshotId)
  const backup = backupId === undefined ? null : await requireBackupAsSource(tx, who, backupId)
  return startAction(tx, deps, who, vmId ?? snapshot?.vm_id ?? backup!.vm_id, {
    verb: vmId === undefined ? null : 'backup',
    label: LABEL,
    find: () => requireReadable(snapshot),
    act: async (vm, start) => {
      if (vm.status === 'UNMANAGED')
        throw apiError('invalid_state', 'VM is UNMANAGED: no image is made of it until the operator adopts it again')
      requireNotHeld(vm)
      const system = await systemOf(tx, (snapshot ?? backup ?? vm).os_template_id)
      const estimatedGib = snapshot?.counted_gib ?? (backup ? diskOfBackup(backup) : vm.disk_gib)
      const [type, id] = snapshot
        ? (['SNAPSHOT', snapshot.id] as const)
        : backup
          ? (['BACKUP', backup.id] as const)
          : (['VM', vm.id] as const)
      const source = { type, id, vmId: vm.id, estimatedGib, stagingHostId: type === 'VM' && vm.storage_id === null ? vm.host_id : null }
      const run = { kind: 'DISK', system, ...(snapshot && { snapshotId: snapshot.id }), ...(backup && { backupId: backup.id }) } as const
      return begin(
        tx,
        deps,
        who.accountId,
        input,
        source,
        run,
        dryRun,
        async (_, workflow, given, runId) => (await start(workflow, given, runId)).actionId,
      )
    },
  })
}

const ONLY_OF_IMPORTS = ['checksum', 'kind', 'arch', 'defaultUser', 'guestAgent'] as const

function requireOneSource(input: CreateImage): void {
  const given = [input.vmId, input.snapshotId, input.backupId, input.url].filter((each) => each !== undefined)
  if (given.length !== 1) throw invalid('give exactly one of vmId, snapshotId, backupId and url')
  if (input.url !== undefined && input.checksum === undefined) throw invalid('checksum is required with url', 'checksum')
  const wrong = input.url === undefined ? ONLY_OF_IMPORTS.find((field) => input[field] !== undefined) : undefined
  if (wrong) throw invalid(`${wrong} is only for an import from a url`, wrong)
}

async function requireReadable(snapshot: { status: string } | null): Promise<void> {
  if (snapshot && snapshot.status !== 'AVAILABLE')
    throw apiError('invalid_state', `Snapshot must be AVAILABLE to make an image from it; it is ${snapshot.status}`)
}

async function systemOf(tx: Tx, templateId: string): Promise<SystemFacts> {
  const { arch, version, distribution, min_ram_mib, default_user, has_agent, firmware, tpm } = await getTemplateById(tx, templateId)
  return { arch, version, distribution, minRamMib: min_ram_mib, defaultUser: default_user, hasAgent: has_agent, firmware, tpm }
}

interface Source {
  type: sql.ImageRow['source_type']
  id: string
  vmId: string | null
  estimatedGib: number
  /** Where a copy of the VM's disk is made first. */
  stagingHostId: string | null
}

type Start = (imageId: string, workflow: typeof createImageWorkflow, input: ImageInput, runId: string) => Promise<string>

/** Reserves what it may take at most, and writes row, run and event. It is charged when it is made. */
async function begin(
  tx: Tx,
  deps: Deps,
  accountId: string,
  { name, labels = {} }: CreateImage,
  { type, id: source, vmId, estimatedGib, stagingHostId }: Source,
  run: Omit<ImageInput, 'imageId' | 'vmId'>,
  dryRun: boolean,
  start: Start,
): Promise<ImageCreated | DryRunResult<Quote>> {
  const { currency } = deps.config
  const price = BigInt(estimatedGib) * (await catalogNumbers(tx))('price.image_gib')
  const [imageId, runId] = [newId(), newId()]
  const kept = { [STORAGE_QUOTA]: () => sql.lockedOf(tx, accountId) }
  await reserveQuotas(tx, accountId, { images: 1n, [STORAGE_QUOTA]: BigInt(estimatedGib) }, kept)
  // A server may take hours to send a file, and workers have few places for what takes long.
  if (type === 'URL' && (await sql.isImporting(tx, accountId)))
    throw apiError('busy', 'Another image of this account is being imported: wait until it is there, or delete it')
  if (type === 'URL') await requireImportBudget(tx, deps.clock.now(), accountId)
  await requireFunds(tx, deps.clock.now(), accountId, price, currency)
  if (stagingHostId !== null && !(await reserveDisk(tx, [stagingHostId], estimatedGib)))
    throw apiError('no_capacity', `The host has no room for a copy of this disk (${estimatedGib} GiB) at the moment: try again later`)
  await sql.insertImage(tx, {
    id: imageId,
    account_id: accountId,
    name,
    labels,
    kind: run.kind,
    source_type: type,
    source,
    vm_id: vmId,
    run_id: runId,
    counted_gib: estimatedGib,
    staging_host_id: stagingHostId,
    staging_gib: stagingHostId === null ? 0 : estimatedGib,
    created_at: deps.clock.now(),
  })
  await requireSelected(tx, deps.clock.now(), accountId, imageId)
  const actionId = await start(
    imageId,
    type === 'URL' ? importImageWorkflow : createImageWorkflow,
    { ...run, imageId, vmId, ...spenderOf(tx, accountId) },
    runId,
  )
  const image = await recordImageEvent(tx, deps, imageId, 'image.creating', { actionId })
  if (!dryRun) return { image, actionId }
  const balanceAfter = (await balanceOf(tx, accountId)) - price
  return new DryRunResult(toQuote(tx, currency, { charge: price, monthly: price, balanceAfter }))
}

const SORT_KEYS: Keys<Image, sql.ImageField> = {
  name: textKey(({ name }) => name),
  kind: textKey(({ kind }) => kind),
  status: textKey(({ status }) => status),
  size: numberKey(({ size }) => size),
  priceMonthly: moneyKey(({ billing }) => billing?.priceMonthly ?? '-0.01'),
}

export const listImages = (db: Queries, accountId: string, { sort, ...filter }: ImageQuery, page: PageRequest): Promise<Paged<Image>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countImages(db, accountId, filter),
    async (range) => (await sql.listImages(db, accountId, filter, range)).map(toImage),
  )

export async function getImage(db: Queries, accountId: string, id: string): Promise<Image> {
  const row = await sql.findImage(db, accountId, id)
  if (!row) throw notFound('Image')
  return toImage(row)
}

async function lockOwnImage(tx: Tx, accountId: string, id: string): Promise<sql.ShownImage> {
  const row = await sql.lockImage(tx, accountId, id)
  if (!row) throw notFound('Image')
  return row
}

export async function updateImage(tx: Tx, deps: Deps, accountId: string, id: string, change: UpdateImage): Promise<Image> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, labels, isProtected')
  const row = await lockOwnImage(tx, accountId, id)
  if (row.status === 'DELETING') throw apiError('invalid_state', `Image ${row.name} is being deleted`)
  const { name = row.name, labels = row.labels, isProtected = row.is_protected } = change
  if (change.labels !== undefined) await requireSelected(tx, deps.clock.now(), accountId, id) // as it was: nobody with a budget labels nothing into it
  await sql.setShown(tx, deps.clock.now(), { id, name, labels, is_protected: isProtected })
  await setOwnTemplate(tx, id, { name, available: row.billing_status !== 'SUSPENDED' })
  return recordImageEvent(tx, deps, id, 'image.updated')
}

/** Refunds the unused whole days. One that is being made is stopped. */
export async function deleteImage(tx: Tx, deps: Deps, accountId: string, id: string, dryRun = false): Promise<Image | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const row = await lockOwnImage(tx, accountId, id)
  if (row.is_protected) throw apiError('protected', `Image ${row.name} is protected against deletion: set isProtected to false first`)
  if (row.status === 'DELETING') return toImage(row)
  await requireUnused(tx, row)
  const unused = sql.isAvailable(row) ? await unusedDays(tx, now, row) : 0n
  if (dryRun) return quoteRemoval(tx, deps, accountId, unused)
  if (row.status === 'CREATING') await deps.workflows.cancel(tx, row.run_id, 'The image was deleted while it was being made')
  await retireImage(tx, deps, row, null)
  if (sql.isAvailable(row))
    await refundUnused(tx, now, row, unused, { type: 'IMAGE_REFUND', what: `image ${row.name}`, referenceType: 'IMAGE' })
  return getImage(tx, accountId, id)
}

/** Disks of VMs are layers on it, and what their copies are is said by it. Nothing new is made from it until the transaction ends. */
async function requireUnused(tx: Tx, { id, name, kind }: sql.ShownImage): Promise<void> {
  const { vms, copies } = await lockTemplateUse(tx, id)
  if (vms === 0n && copies === 0n) return
  const users = (await sql.usersOf(tx, id)).map((user) => `${user.what} ${user.name}`)
  const others = Number(vms + copies) - users.length
  const all = others > 0 ? [...users, `${others} more`] : users
  throw apiError(
    'in_use',
    `Image ${name} is used by ${all.join(', ')}: ${kind === 'ISO' ? 'detach it from' : 'rebuild or delete'} these first`,
  )
}

/** Of a locked, unused image: nothing is made from it any more, and its files are removed. */
export async function retireImage(tx: Tx, deps: EventDeps, row: sql.ShownImage, reason: string | null): Promise<void> {
  await deleteTemplate(tx, row.id)
  // What a run has reserved is released by its end, which follows; what object lock keeps, when it is gone.
  const counted = row.status === 'CREATING' || (await isLocked(tx, row.id)) ? 0 : row.counted_gib
  await releaseQuotas(tx, row.account_id, { images: 1n, ...(counted > 0 && { [STORAGE_QUOTA]: BigInt(counted) }) })
  await sql.markDeleting(tx, deps.clock.now(), row.id, reason, row.counted_gib - counted)
  await triggerReconciler(tx, PURGE)
  await triggerReconciler(tx, COPY)
}
