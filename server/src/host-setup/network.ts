// The public network is a plain bridge: with an address on the bridge, routed traffic would bypass the nwfilters of the VMs.
import { ErrorCode, type Connection, type Named } from '@berth/libvirt'
import { PUBLIC_BRIDGE, PUBLIC_NETWORK } from '../hypervisor/libvirt/core/resource-names.ts'
import { found, withLibvirt } from './libvirt.ts'
import { missingIfUnreachable } from './pool.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { exists } from './shell.ts'

const AUTOSTART = `/etc/libvirt/qemu/networks/autostart/${PUBLIC_NETWORK}.xml`
const XML = `<network><name>${PUBLIC_NETWORK}</name><bridge name='${PUBLIC_BRIDGE}' stp='off' delay='0'/></network>`

const find = (libvirt: Connection): Promise<Named | null> =>
  found(libvirt.networks.lookupByName({ name: PUBLIC_NETWORK }), ErrorCode.noNetwork)

export const network: Step = {
  name: 'network',
  check: () =>
    withLibvirt(async (libvirt) => {
      const known = await find(libvirt)
      if (!known) return missing(`network ${PUBLIC_NETWORK}`)
      const problem = networkProblem(await libvirt.networks.getXml({ network: known }))
      if (problem)
        throw new SetupError(problem, `virsh net-destroy ${PUBLIC_NETWORK}; virsh net-undefine ${PUBLIC_NETWORK}; then run this again`)
      if (!(await libvirt.networks.isActive({ network: known }))) return missing(`network ${PUBLIC_NETWORK} is not active`)
      if (!(await exists(AUTOSTART))) return missing(`network ${PUBLIC_NETWORK} has no autostart`)
      return satisfied(`network ${PUBLIC_NETWORK} on bridge ${PUBLIC_BRIDGE}`)
    }).catch(missingIfUnreachable(`network ${PUBLIC_NETWORK}`)),
  apply: () =>
    withLibvirt(async (libvirt) => {
      const made = (await find(libvirt)) ?? (await libvirt.networks.define({ xml: XML }))
      for (const autostart of [0, 1]) await libvirt.networks.setAutostart({ network: made, autostart })
      if (!(await libvirt.networks.isActive({ network: made }))) await libvirt.networks.create({ network: made })
    }),
}

/** Why firewalls would not work on this network, or null. */
export function networkProblem(xml: string): string | null {
  if (/<ip\b/.test(xml)) return `The network ${PUBLIC_NETWORK} has an address on its bridge, so routed traffic would bypass the VM filters`
  const bridge = /<bridge\b[^>]*\bname='([^']*)'/.exec(xml)?.[1]
  const isBridged = !/<forward\b/.test(xml) || /<forward\b[^>]*\bmode='bridge'/.test(xml)
  if (!isBridged || !bridge) return `The network ${PUBLIC_NETWORK} is not bridged`
  return null
}
