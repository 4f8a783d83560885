// Makes an image: from a consistent copy of a VM's disk on its host, from a snapshot or backup, or from a file that is fetched and checked. The bytes
// go through this process into the image folder; hosts get the image when the first VM from it is made there. It is charged once it is there.
import { Readable } from 'node:stream'
import type { Consistency, Firmware } from '../../hypervisor/driver.ts'
import { stackLayers, type DiskContent } from '../../hypervisor/extent.ts'
import { writeQcow2Image } from '../../hypervisor/qcow2/write-image.ts'
import { importOwn } from '../../images/import-own.ts'
import { ImageRefusedError, type ImageKind, type WorkFolder } from '../../images/own-images.ts'
import { virtualBytesOf } from '../../images/validate-image.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { formatCents } from '../../kernel/money.ts'
import { DownloadError } from '../../kernel/net/outbound-http.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { StepError, type QueueName, type SaveContext, type StepContext } from '../../workflow/workflow-builder.ts'
import { quotaLimit, quotaUsed, releaseQuota, reserveQuota } from '../accounts/service.ts'
import { CREATE_IMAGE, openBackupDisk } from '../backups/service.ts'
import type { Spender } from '../budgets/service.ts'
import { addOwnTemplate, catalogNumbers } from '../catalog/service.ts'
import { workflow, type Deps } from '../deps.ts'
import { releaseDisk } from '../hosts/capacity.ts'
import { firstPeriod } from '../renewals/service.ts'
import { driverForVm, driverForVmId, lockVmById, vmById } from '../vms/service.ts'
import { refund, refundable, tryCharge } from '../wallet/service.ts'
import { recordImageEvent } from './events.ts'
import { countReceived, recordFailedImport, requireImportBudget } from './failed-imports.ts'
import { COPY } from './reconciler-names.ts'
import * as sql from './sql.ts'

/** Of the system in the image. */
export interface SystemFacts {
  arch: string
  /** Absent for an import, and in runs from before there was a choice. */
  firmware?: Firmware | null
  tpm?: boolean
  version: string
  distribution: string
  minRamMib: number
  defaultUser: string
  hasAgent: boolean
}

export interface ImageInput extends Spender {
  imageId: string
  /** Null for an import. */
  vmId: string | null
  snapshotId?: string
  backupId?: string
  download?: { url: string; checksum: string }
  kind: ImageKind
  system: SystemFacts
}

type Context = Pick<StepContext<Deps, ImageInput, unknown>, 'deps' | 'input' | 'signal'>

export const STORAGE_QUOTA = 'image_storage_gib'
const GIB = 1024 ** 3
/** The largest file that is kept, and fetched. */
const MAX_BYTES = 512 * GIB
const MAX_IMPORT_BYTES = 64 * GIB

const imageWorkflow = (name: string, queue: QueueName) =>
  workflow<ImageInput>(name, {
    deadline: '8h',
    queue,
    locks: async (tx, { vmId, imageId }) => {
      if (vmId !== null) await lockVmById(tx, vmId)
      await sql.lockImageById(tx, imageId)
    },
  })
    .step('copy', {
      timeout: '2h',
      run: async ({ deps, input, signal }): Promise<Consistency | null> => {
        if (!isOfVm(input)) return null
        const driver = await driverForVmId(deps, input.vmId)
        return (await driver.ensureBackup(input.vmId, { backupId: input.imageId, parentId: null }, signal)).consistency
      },
      undo: removeCopy,
    })
    .step('store', { timeout: '2h', run: store, undo: ({ deps, input }) => deps.images.remove(input.imageId) })
    .step('charge', { save: charge })
    .step('remove copy', { run: removeCopy, optional: true })
    .onSuccess(async (tx, { deps, input, results, runId, now }) => {
      const { staging_host_id, staging_gib, name, account_id } = await getImage(tx, input.imageId)
      const { diskGiB, sizeBytes, checksum, virtualBytes } = results.store
      if (diskGiB !== null)
        await addOwnTemplate(tx, {
          id: input.imageId,
          slug: `image-${input.imageId}`,
          account_id,
          name,
          arch: input.system.arch,
          version: input.system.version,
          distribution: input.system.distribution,
          min_disk_gib: diskGiB,
          min_ram_mib: input.system.minRamMib,
          default_user: input.system.defaultUser,
          cloud_init: true,
          has_agent: input.system.hasAgent,
          firmware: input.system.firmware ?? null,
          tpm: input.system.tpm ?? false,
          size_bytes: BigInt(sizeBytes),
          checksum,
          virtual_bytes: BigInt(virtualBytes),
          recipe: null,
          image_url: null,
          origin: '',
          imported_at: now,
          available: true,
          position: 0,
          created_at: now,
        })
      await sql.markAvailable(tx, now, input.imageId, { ...results.store, consistency: results.copy })
      if (staging_host_id !== null) await releaseDisk(tx, new Map([[staging_host_id, staging_gib]]))
      await recordImageEvent(tx, deps, input.imageId, 'image.created', { actionId: runId })
      await triggerReconciler(tx, COPY)
    })
    .onFailure(async (tx, { deps, input, error, cancelled, runId, now }) => {
      const image = await getImage(tx, input.imageId)
      const { account_id, counted_gib, staging_host_id, staging_gib, name } = image
      const reason = error?.userMessage ?? 'It was cancelled'
      await recordFailedImport(tx, now, image)
      await sql.markFailed(tx, now, input.imageId, reason)
      if (counted_gib > 0) await releaseQuota(tx, account_id, STORAGE_QUOTA, BigInt(counted_gib))
      if (staging_host_id !== null) await releaseDisk(tx, new Map([[staging_host_id, staging_gib]]))
      if (!cancelled) await recordImageEvent(tx, deps, input.imageId, 'image.failed', { actionId: runId, reason })
      const paid = await refundable(tx, account_id, input.imageId)
      const entry = { type: 'IMAGE_REFUND', description: `Image ${name} could not be made`, ...referenceTo(input.imageId) } as const
      if (paid > 0n) await refund(tx, now, account_id, paid, entry)
    })

export const createImageWorkflow = imageWorkflow(CREATE_IMAGE, 'bulk')
export const importImageWorkflow = imageWorkflow('image.import', 'foreign')

const referenceTo = (id: string) => ({ referenceType: 'IMAGE', referenceId: id }) as const

/** From the VM as it is, rather than from a copy of it that exists. */
const isOfVm = (input: ImageInput): input is ImageInput & { vmId: string } =>
  input.vmId !== null && input.snapshotId === undefined && input.backupId === undefined

async function getImage(tx: Tx, id: string): Promise<sql.ShownImage> {
  const row = await sql.lockImageById(tx, id)
  if (!row) throw new Error(`BUG: image ${id} is gone while it is made`)
  return row
}

/** If this fails in the end, the orphan volume reconciler removes the copy. */
async function removeCopy({ deps, input, signal }: Context): Promise<void> {
  const vm = isOfVm(input) ? await vmById(deps.db, input.vmId) : undefined
  if (vm?.host_id) await (await driverForVm(deps, vm)).ensureNoBackup(vm.id, input.imageId, signal)
}

interface Stored {
  sizeBytes: number
  checksum: string
  virtualBytes: number
  /** Null for an ISO image. */
  diskGiB: number | null
}

async function store(context: Context): Promise<Stored> {
  const { deps, input, signal } = context
  let virtualBytes = 0
  const make = async (work: WorkFolder): Promise<string> => {
    const file = input.download ? await fetchFile(context, work, input.download) : await writeDisk(work, await openDisk(context))
    if (input.kind === 'DISK') virtualBytes = await virtualBytesOf(file)
    return file
  }
  const made = await deps.images.write(input.imageId, input.kind, make).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof ImageRefusedError) throw new StepError('image_refused', error.message, { retry: false, cause: error })
    throw error
  })
  return { ...made, virtualBytes, diskGiB: input.kind === 'DISK' ? Math.ceil(virtualBytes / GIB) : null }
}

async function openDisk({ deps, input, signal }: Context): Promise<DiskContent> {
  const { imageId, snapshotId, backupId } = input
  if (backupId !== undefined) return openBackupDisk(deps, backupId, signal)
  const driver = await driverForVmId(deps, input.vmId!)
  const layer =
    snapshotId === undefined
      ? driver.readBackupExtents(input.vmId!, imageId, signal)
      : driver.readSnapshotExtents(input.vmId!, snapshotId, signal)
  return stackLayers([await layer])
}

const writeDisk = (work: WorkFolder, content: DiskContent): Promise<string> =>
  work.save('image.qcow2', Readable.from(writeQcow2Image(content), { objectMode: false }), MAX_BYTES)

async function fetchFile(
  { deps, input, signal }: Context,
  work: WorkFolder,
  { url, checksum }: NonNullable<ImageInput['download']>,
): Promise<string> {
  const image = await getImportedImage(deps, input.imageId)
  await requireImportBudget(deps.db, deps.clock.now(), image.account_id, Number(image.received_bytes)).catch(endRun)
  const maxBytes = Math.min(MAX_IMPORT_BYTES, (await freeQuotaGib(deps, image)) * GIB)
  const sent = await deps.outbound.download(url, signal).catch(explainFetch)
  const { count, end } = countReceived(deps.db, image.id)
  const received = await work
    .save('received', Readable.from(count(sent), { objectMode: false }), maxBytes)
    .catch((error: unknown) => {
      if (error instanceof ImageRefusedError || signal.aborted) throw error
      return explainFetch(error)
    })
    .finally(end)
  return importOwn(work, received, { kind: input.kind, checksum, maxBytes, count }, signal).finally(end)
}

function explainFetch(error: unknown): never {
  const isTheirs = error instanceof DownloadError || /^(UND_|ECONN|EPIPE)/.test((error as { code?: string }).code ?? '')
  if (!isTheirs) throw error
  const why = error instanceof DownloadError ? error.message : 'the connection was closed before the file was complete'
  throw new StepError('download_failed', `The file could not be fetched: ${why}`, { retry: true, cause: error })
}

async function getImportedImage({ db }: Deps, id: string): Promise<sql.ShownImage> {
  const image = await sql.imageById(db, id)
  if (!image) throw new Error(`BUG: image ${id} is gone while it is made`)
  return image
}

/** With what is reserved for the image. */
async function freeQuotaGib({ db }: Deps, { account_id, counted_gib }: sql.ShownImage): Promise<number> {
  const free = (await quotaLimit(db, account_id, STORAGE_QUOTA)) - (await quotaUsed(db, account_id, STORAGE_QUOTA))
  return Math.max(0, Number(free)) + counted_gib
}

/** The only step after it is optional: from here on the image can only be deleted, and its unused days refunded. */
async function charge(tx: Tx, { deps, input, results, now }: SaveContext<Deps, ImageInput, { store: Stored }>): Promise<void> {
  const { account_id, counted_gib, name } = await getImage(tx, input.imageId)
  const gib = Math.max(1, Math.ceil(results.store.sizeBytes / GIB))
  if (gib > counted_gib) await reserveQuota(tx, account_id, STORAGE_QUOTA, BigInt(gib - counted_gib)).catch(endRun)
  if (gib < counted_gib) await releaseQuota(tx, account_id, STORAGE_QUOTA, BigInt(counted_gib - gib))
  await sql.setCounted(tx, input.imageId, gib)
  const priceCents = BigInt(gib) * (await catalogNumbers(tx))('price.image_gib')
  const period = firstPeriod(now, priceCents)
  const entry = { type: 'IMAGE_CHARGE', description: `First month of image ${name}`, ...referenceTo(input.imageId) } as const
  const paid = await tryCharge(tx, now, account_id, priceCents, entry, { spender: input, currency: deps.config.currency })
  const price = `${formatCents(priceCents)} ${deps.config.currency}`
  if (!paid)
    throw new StepError('insufficient_funds', `The wallet no longer held ${price} when the image was made, its price for a month`, {
      retry: false,
    })
  await sql.insertPeriod(tx, input.imageId, period, paid.id)
  await sql.setPeriod(tx, now, input.imageId, period)
}

function endRun(error: unknown): never {
  throw error instanceof ApiError ? new StepError(error.code, error.message, { retry: false, cause: error }) : error
}
