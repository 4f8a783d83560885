// A copy of a machine that is off. A reader makes it: a guest that has the disk to read, and stands still from its first moment. QEMU starts
// nothing on a disk that is being read, so whoever needs the disk ends the reader, and the copy with it.
import type { Domain } from '@berth/libvirt'
import type { CopyRequest } from './backup-job.ts'
import { diskPathOf } from './checkpoints.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { hasJob } from './backup-job.ts'
import type { MachineState } from '../domain/lookup.ts'
import { readerName } from '../core/resource-names.ts'
import { runPushBackup } from './live-copy.ts'
import type { HostContext } from '../core/host-context.ts'
import { pausedDomainXml } from '../xml/domain-xml.ts'
import { waitUntilComplete } from '../storage/volumes.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

/** So often in a row it is seen to do nothing, some seconds apart, until nobody can be behind it. */
const IDLE_LOOKS = 10

/** Resolves also when another process made it meanwhile. A disk has one reader. It ends with its process, unless the daemon died: then it
 *  is in the way for ever. */
export async function copyOffline(context: HostContext, copying: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  for (let idleLooks = 0; ;) {
    const reader = await tryOpen(context, copying.vmId, machine.xml, signal)
    if (reader) return copyWithReader(reader, context, copying, machine, signal)
    if (await waitUntilComplete(context, copying.name, signal)) return
    const found = await findReader(context, copying.vmId, signal)
    idleLooks = found && !(await hasJob(context, found, signal)) ? idleLooks + 1 : 0
    if (found && idleLooks >= IDLE_LOOKS) await end(context, found, signal)
  }
}

const CLEAN_UP_MS = 30_000

async function copyWithReader(
  reader: Domain,
  context: HostContext,
  copying: CopyRequest,
  machine: MachineState,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runPushBackup(context, copying, { ...machine, domain: reader, isOn: true }, signal)
  } finally {
    await end(context, reader, AbortSignal.timeout(CLEAN_UP_MS)).catch((error: unknown) =>
      context.log.warn({ hostId: context.hostId, err: error }, `${reader.name} could not be ended`),
    )
  }
}

/** Undefined while there is another, or one that just ends. */
const tryOpen = ({ call }: HostContext, vmId: string, machine: Element, signal: AbortSignal): Promise<Domain | undefined> =>
  call(`open the disk of ${vmId}`, signal, async (host) => {
    const opened = host.domains.createXml({ xml: readerXml(vmId, machine).xml, flags: ['paused', 'autodestroy'] })
    // Nobody would end what opens after its caller has left.
    opened.then((domain) => (signal.aborted ? host.domains.destroy({ domain }) : undefined)).catch(() => undefined)
    return opened.catch((error: unknown) => {
      if (/already (exists|active|defined|being removed)/.test(String(error))) return undefined
      throw error
    })
  })

export const findReader = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<Domain | undefined> =>
  call(`look for ${readerName(vmId)}`, signal, (host) => undefinedIfNotFound(host.domains.lookupByName({ name: readerName(vmId) })))

/** Lets go of the disk of a machine that is off. */
export async function stopReaderDomain(context: HostContext, vmId: string, signal: AbortSignal): Promise<void> {
  const reader = await findReader(context, vmId, signal)
  if (reader) await end(context, reader, signal)
}

const end = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<unknown> =>
  call(`end ${domain.name}`, signal, (host) => undefinedIfNotFound(host.domains.destroy({ domain })))

const readerXml = (vmId: string, machine: Element): Xml =>
  pausedDomainXml(
    readerName(vmId),
    machine.find('os/type')?.attributes ?? {},
    element(
      'disk',
      { type: 'file', device: 'disk' },
      element('driver', { name: 'qemu', type: 'qcow2' }),
      element('source', { file: diskPathOf(machine) }),
      element('target', { dev: 'vda', bus: 'virtio' }),
      element('readonly'),
    ),
  )
