// Checkpoints of a domain: dirty bitmaps of the changes since a backup, named by the backup's id.
import type { Domain, Host } from '@berth/libvirt'
import { undefinedIfNotFound } from '../core/errors.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'
import { diskOf } from '../xml/domain-xml.ts'

/** Whether that backup has a checkpoint of the present disk. */
export const hasCheckpoint = (
  { call }: HostContext,
  { domain, xml }: MachineState,
  backupId: string,
  signal: AbortSignal,
): Promise<boolean> =>
  call(`find the checkpoint of backup ${backupId}`, signal, async (host) => {
    const checkpoint = await undefinedIfNotFound(host.checkpoints.lookupByName({ domain, name: backupId }))
    return checkpoint !== undefined && (await pathOf(host, checkpoint)) === diskOf(xml).path
  })

const pathOf = async (host: Host, checkpoint: { name: string; domain: Domain }): Promise<string> => {
  const domain = readXml(await host.checkpoints.getXml({ checkpoint })).find('domain')
  return domain ? diskOf(domain).path : ''
}

/** Checkpoints of disks that a rebuild or restore replaced. */
export const deleteStaleCheckpoints = ({ call }: HostContext, { domain, xml }: MachineState, signal: AbortSignal): Promise<void> =>
  call(`delete stale checkpoints of ${domain.name}`, signal, async (host) => {
    for (const checkpoint of await host.checkpoints.listAll({ domain }))
      if ((await pathOf(host, checkpoint)) !== diskOf(xml).path) await host.checkpoints.delete({ checkpoint, flags: ['metadataOnly'] })
  })

/** Deletes the metadata alone where the dirty bitmap cannot be merged: while the VM is off, and when the bitmap is inconsistent. */
export const removeCheckpoint = (
  { call }: HostContext,
  { domain, isOn }: MachineState,
  backupId: string,
  signal: AbortSignal,
): Promise<void> =>
  call(`remove the checkpoint of backup ${backupId}`, signal, async (host) => {
    const checkpoint = await undefinedIfNotFound(host.checkpoints.lookupByName({ domain, name: backupId }))
    if (!checkpoint) return
    const deleteMetadata = (): Promise<unknown> => undefinedIfNotFound(host.checkpoints.delete({ checkpoint, flags: ['metadataOnly'] }))
    await (isOn ? undefinedIfNotFound(host.checkpoints.delete({ checkpoint })).catch(deleteMetadata) : deleteMetadata())
  })
