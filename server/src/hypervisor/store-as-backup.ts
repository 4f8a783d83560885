import type { Driver } from './driver.ts'
import type { DiskContent, Extent } from './extent.ts'

/** Stores a disk as a full backup of the VM, where its disk is to be. */
export async function storeAsBackup(
  here: Driver,
  { vmId, ...backup }: { vmId: string; backupId: string; storageId: string | null },
  open: () => Promise<DiskContent>,
  signal: AbortSignal,
): Promise<void> {
  let failure: unknown
  const noteFailure = (error: unknown): never => {
    throw (failure = error)
  }
  const openWatched = async (): Promise<DiskContent> => {
    const content = await open().catch(noteFailure)
    return { ...content, extents: watched(content.extents, noteFailure) }
  }
  try {
    await here.ensureBackupFromExtents(vmId, backup, openWatched, signal)
  } catch (error) {
    throw failure ?? error // the driver takes a failure of the source for one of the host
  }
}

async function* watched(extents: AsyncIterable<Extent>, noteFailure: (error: unknown) => never): AsyncGenerator<Extent> {
  try {
    yield* extents
  } catch (error) {
    noteFailure(error)
  }
}
