// The reader domain of a VM that is off: a paused QEMU with the VM's disk, read-only, which the backup job of an offline copy runs in.
// QEMU's image locks keep every other domain from starting on that disk, so whoever needs the disk destroys the reader, and the copy with it.
import type { Domain } from '@berth/libvirt'
import { isNameTaken, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { readerName } from '../core/resource-names.ts'
import { element, type Element, type Xml } from '../core/xml.ts'
import { copySeclabel } from '../core/guest-user.ts'
import { backingXml, diskOf, pausedDomainXml } from '../xml/domain-xml.ts'

/** Undefined while another reader domain exists, or is being removed. It is destroyed with our connection (`autodestroy`). */
export const tryOpenReader = (context: HostContext, vmId: string, machine: Element, signal: AbortSignal): Promise<Domain | undefined> =>
  context.call(`open the disk of ${vmId}`, signal, async (host) => {
    const opened = host.domains.createXml({ xml: readerXml(vmId, machine).xml, flags: ['paused', 'autodestroy'] })
    // A domain that starts after the caller has aborted would have no owner. `host` sends nothing any more by then.
    opened.then((domain) => (signal.aborted ? context.host.domains.destroy({ domain }) : undefined)).catch(() => undefined)
    return opened.catch((error: unknown) => {
      if (isNameTaken(error)) return undefined
      throw error
    })
  })

export const findReader = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<Domain | undefined> =>
  call(`find ${readerName(vmId)}`, signal, (host) => undefinedIfNotFound(host.domains.lookupByName({ name: readerName(vmId) })))

/** Releases the disk of a VM that is off. */
export async function stopReaderDomain(context: HostContext, vmId: string, signal: AbortSignal): Promise<void> {
  const reader = await findReader(context, vmId, signal)
  if (reader) await destroyReader(context, reader, signal)
}

export const destroyReader = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<unknown> =>
  call(`destroy reader domain ${domain.name}`, signal, (host) => undefinedIfNotFound(host.domains.destroy({ domain })))

/** Runs as the VM's user, if the VM has one. */
function readerXml(vmId: string, machine: Element): Xml {
  const { path, backing } = diskOf(machine)
  return pausedDomainXml(
    readerName(vmId),
    machine.find('os/type')?.attributes ?? {},
    element(
      'disk',
      { type: 'file', device: 'disk' },
      element('driver', { name: 'qemu', type: 'qcow2' }),
      element('source', { file: path }),
      backing !== undefined && backingXml(backing),
      element('target', { dev: 'vda', bus: 'virtio' }),
      element('readonly'),
    ),
    copySeclabel(machine),
  )
}
