// What a domain remembers of the moments of its backups: which parts of the disk changed since. Named by the backups' ids.
import type { Domain, Host } from '@berth/libvirt'
import { undefinedIfNotFound } from '../core/errors.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'
import { diskPathOf } from '../xml/domain-xml.ts'

/** Whether the changes of the disk it has now are known since that backup. */
export const hasCheckpoint = (
  { call }: HostContext,
  { domain, xml }: MachineState,
  backupId: string,
  signal: AbortSignal,
): Promise<boolean> =>
  call(`look for the checkpoint of backup ${backupId}`, signal, async (host) => {
    const checkpoint = await undefinedIfNotFound(host.checkpoints.lookupByName({ domain, name: backupId }))
    return checkpoint !== undefined && (await pathOf(host, checkpoint)) === diskPathOf(xml)
  })

const pathOf = async (host: Host, checkpoint: { name: string; domain: Domain }): Promise<string> => {
  const domain = readXml(await host.checkpoints.getXml({ checkpoint })).find('domain')
  return domain ? diskPathOf(domain) : ''
}

/** Of disks the machine no longer has, after a rebuild or a restore: nothing can be told from them. */
export const deleteStaleCheckpoints = ({ call }: HostContext, { domain, xml }: MachineState, signal: AbortSignal): Promise<void> =>
  call(`forget old disks of ${domain.name}`, signal, async (host) => {
    for (const checkpoint of await host.checkpoints.listAll({ domain }))
      if ((await pathOf(host, checkpoint)) !== diskPathOf(xml)) await host.checkpoints.delete({ checkpoint, flags: ['metadataOnly'] })
  })

/** A disk that is not in use, or was not closed well, keeps its record of changes, which nobody asks for any more. */
export const removeCheckpoint = (
  { call }: HostContext,
  { domain, isOn }: MachineState,
  backupId: string,
  signal: AbortSignal,
): Promise<void> =>
  call(`remove the checkpoint of backup ${backupId}`, signal, async (host) => {
    const checkpoint = await undefinedIfNotFound(host.checkpoints.lookupByName({ domain, name: backupId }))
    if (!checkpoint) return
    const forget = (): Promise<unknown> => undefinedIfNotFound(host.checkpoints.delete({ checkpoint, flags: ['metadataOnly'] }))
    await (isOn ? undefinedIfNotFound(host.checkpoints.delete({ checkpoint })).catch(forget) : forget())
  })
