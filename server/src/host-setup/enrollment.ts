// What adding a host takes of the control plane: its bundle, and a look at it over the connection by which it will be managed.
import { parseCidr } from '../kernel/cidr.ts'
import type { LocalAccess } from '../hypervisor/local-access.ts'
import { sellableCapacity } from '../hypervisor/sellable-capacity.ts'
import { gatewayOf } from './address-range.ts'
import type { AuthorityStore } from './authority-files.ts'
import { revokeCertificates } from './certificate-authority.ts'
import { makeBundle } from './issue-bundle.ts'

export const openHostSetup = (store: AuthorityStore, access: LocalAccess) => ({
  async issueBundle(address: string, order: { regionId: string; inUse: string[]; controllers: string[] }) {
    await revokeCertificates(store, address)
    const bundle = await makeBundle(store, address, order)
    return { text: JSON.stringify({ ...bundle, isEnrolled: true }), range: bundle.range, gateway: gatewayOf(parseCidr(bundle.range)!) }
  },
  revokeCertificates: (address: string) => revokeCertificates(store, address),
  async verify(uri: string) {
    const [{ verifyHost }, { accelerationOf }, { endpointOf }] = await Promise.all([
      import('./verify.ts'), // imported on demand: it loads the libvirt client
      import('./facts.ts'),
      import('../hypervisor/libvirt/core/endpoint.ts'),
    ])
    const { findings, facts } = await verifyHost(endpointOf(uri, access))
    const host = facts && {
      hostname: facts.hostname,
      arch: facts.arch,
      acceleration: accelerationOf(facts),
      guestTypes: facts.guestTypes,
      ...sellableCapacity(facts),
    }
    return { checks: findings, host }
  },
})
