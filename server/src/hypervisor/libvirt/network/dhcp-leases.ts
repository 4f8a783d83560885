// Static DHCP leases of private networks. A new lease replaces stale leases of its MAC or address.
import { NetworkUpdateCommand, NetworkUpdateSection, type Host, type Named } from '@berth/libvirt'
import { DriverError, type NicSpec } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { networkName } from '../core/resource-names.ts'
import { leaseXml, readLeases, readNetwork, type Lease } from '../xml/network-xml.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'

/** Called before every start, and before an interface is attached. `not_found` for a network that does not exist. */
export async function ensureLease(context: HostContext, nic: NicSpec, signal: AbortSignal): Promise<void> {
  const { networkId, mac, address } = nic
  if (!networkId) return
  await context.exclusive(`network:${networkId}`, signal, () =>
    context.call(`add the DHCP lease of ${address} to ${mac}`, signal, async (host) => {
      const network = await undefinedIfNotFound(host.networks.lookupByName({ name: networkName(networkId) }))
      if (!network) throw new DriverError('not_found', `Host ${context.hostId} has no network ${networkId}`)
      const xml = readXml(await host.networks.getXml({ network }))
      if (!readNetwork(xml)?.enableDhcp) return
      const leases = readLeases(xml)
      if (leases.some((lease) => lease.mac === mac && lease.address === address)) return
      const stale = leases.filter((lease) => lease.mac === mac || lease.address === address)
      for (const lease of stale) await update(host, network, NetworkUpdateCommand.delete, lease)
      await update(host, network, NetworkUpdateCommand.addLast, { mac, address })
    }),
  )
}

/** Of a detached interface. Does nothing when the network does not exist any more. */
export async function ensureNoLease(context: HostContext, networkId: string, mac: string, signal: AbortSignal): Promise<void> {
  await context.exclusive(`network:${networkId}`, signal, () =>
    context.call(`remove the DHCP lease of ${mac}`, signal, async (host) => {
      const network = await undefinedIfNotFound(host.networks.lookupByName({ name: networkName(networkId) }))
      if (!network) return
      const leases = readLeases(readXml(await host.networks.getXml({ network })))
      for (const lease of leases.filter((each) => each.mac === mac)) await update(host, network, NetworkUpdateCommand.delete, lease)
    }),
  )
}

async function update(host: Host, network: Named, command: number, lease: Lease): Promise<void> {
  const isActive = (await host.networks.isActive({ network })) === 1
  const flags = isActive ? (['live', 'config'] as const) : (['config'] as const)
  await host.networks.update({ network, command, section: NetworkUpdateSection.dhcpHost, xml: leaseXml(lease).xml, flags })
}
