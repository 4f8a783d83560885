// Whether the host can start QEMU as a user of ours, and with which group. A container whose user namespace lacks these numbers cannot, nor
// can a libvirtd without root. So a paused probe domain is started as one.
import { RemoteError, type Host } from '@berth/libvirt'
import type { Acceleration } from '../../driver.ts'
import { isNameTaken } from '../core/errors.ts'
import { seclabelXml } from '../core/guest-user.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntil } from '../core/poll.ts'
import { USER_PROBE_DOMAIN } from '../core/resource-names.ts'
import { element, readXml } from '../core/xml.ts'
import { detectAcceleration } from './kvm-probe.ts'

/** The group of all QEMUs of the host; null where they run as the user of qemu.conf. Probed once per connection to the host. */
export const guestGroup = (context: HostContext, signal: AbortSignal): Promise<number | null> =>
  context.exclusive('guest-group', signal, async () => {
    if (context.cache.guestGroup === undefined) context.cache.guestGroup = await probeOnce(context, signal)
    return context.cache.guestGroup
  })

/** A host has one probe domain: another process waits until it is gone. */
async function probeOnce(context: HostContext, signal: AbortSignal): Promise<number | null> {
  const group = await context.call('read host capabilities', signal, async (host) => groupIn(await host.connect.getCapabilities()))
  if (group === null) return null
  const xml = probeXml(await detectAcceleration(context, signal), group)
  return pollUntil(context, 'wait for the guest user probe', signal, () =>
    context.call('probe guest users', signal, (host) => probe(context, host, xml, group)),
  )
}

async function probe(context: HostContext, host: Host, xml: string, group: number): Promise<number | null | undefined> {
  try {
    const domain = await host.domains.createXml({ xml, flags: ['autodestroy', 'paused'] })
    await context.host.domains.destroy({ domain })
    return group
  } catch (error) {
    if (isNameTaken(error)) return undefined
    if (!(error instanceof RemoteError)) throw error // says nothing about the host: the next caller probes again
    context.log.warn({ hostId: context.hostId, err: error }, 'guest user probe failed; all guests run as one user')
    return null
  }
}

/** Needs what guests need: /dev/kvm where it is used, and a socket in a folder of libvirt. */
const probeXml = (acceleration: Acceleration, group: number): string =>
  element(
    'domain',
    { type: acceleration === 'kvm' ? 'kvm' : 'qemu' },
    element('name', {}, USER_PROBE_DOMAIN),
    element('memory', { unit: 'MiB' }, 64),
    element('vcpu', {}, 1),
    element('os', {}, element('type', {}, 'hvm')),
    seclabelXml(USER_PROBE_DOMAIN, group),
    element(
      'devices',
      {},
      element('controller', { type: 'usb', model: 'none' }),
      element('memballoon', { model: 'none' }),
      element('graphics', { type: 'vnc' }, element('listen', { type: 'socket' })),
    ),
  ).xml

/** From `<baselabel type='kvm'>+64055:+109</baselabel>` of the DAC driver. */
export function groupIn(capabilities: string): number | null {
  const dac = readXml(capabilities)
    .all('host/secmodel')
    .find((each) => each.find('model')?.text === 'dac')
  const group = /^\+\d+:\+(\d+)$/.exec(dac?.find('baselabel')?.text ?? '')?.[1]
  return group === undefined ? null : Number(group)
}
