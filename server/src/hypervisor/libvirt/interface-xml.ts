// An interface of a machine, the same whether it is defined with it or plugged in later. Its speed is not part of it: a kernel that
// cannot throttle would then refuse the machine, so a limit is set on the interface once it is there.
import type { NicSpec } from '../driver.ts'
import { filterName, networkName, PRIVATE_FILTER, PUBLIC_NETWORK } from './names.ts'
import { element, type Xml } from './xml.ts'

export function interfaceXml(vmId: string, { mac, kind, networkId, address }: NicSpec): Xml {
  const isPublic = kind === 'public'
  if (!isPublic && networkId === null) throw new Error(`BUG: the private interface ${mac} of ${vmId} has no network`)
  return element(
    'interface',
    { type: 'network' },
    element('mac', { address: mac }),
    element('source', { network: networkId === null ? PUBLIC_NETWORK : networkName(networkId) }),
    element('model', { type: 'virtio' }),
    element('rom', { enabled: 'no' }),
    // Told the address, libvirt does not learn whatever the guest claims to have.
    element('filterref', { filter: isPublic ? filterName(vmId) : PRIVATE_FILTER }, element('parameter', { name: 'IP', value: address })),
  )
}
