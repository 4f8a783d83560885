// Interface XML, written and parsed.
import type { NicSpec } from '../../driver.ts'
import { portName } from '../../network-controller.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

/** OVN's, on every host. */
const INTEGRATION_BRIDGE = 'br-int'

/** The device tells its guest. In a private network the headers of Geneve and VXLAN have to fit beside it. Without one, a tap has that of the bridge,
 *  which is that of the smallest tap there. */
const MTU = { public: 1500, private: 1400 }

const OFF = { csum: 'off', tso4: 'off', tso6: 'off' }

/** `canOffload`: Open vSwitch in userspace completes no checksums and splits no segments that a guest leaves to its device. */
export const interfaceXml = (nic: NicSpec, canOffload: boolean): Xml =>
  element(
    'interface',
    { type: 'bridge' },
    element('mac', { address: nic.mac }),
    element('source', { bridge: INTEGRATION_BRIDGE }),
    element('virtualport', { type: 'openvswitch' }, element('parameters', { interfaceid: portName(nic.mac), profileid: profileOf(nic) })),
    element('model', { type: 'virtio' }),
    !canOffload && element('driver', {}, element('host', { ...OFF, gso: 'off' }), element('guest', OFF)),
    element('mtu', { size: MTU[nic.kind] }),
    element('rom', { enabled: 'no' }),
  )

/** The address that the guest agent configures. libvirt keeps the id of a port profile for others and gives it no meaning. */
const profileOf = ({ kind, ipv4 }: NicSpec): string | undefined =>
  kind === 'private' && ipv4 ? `${ipv4.address}/${ipv4.prefix}` : undefined

export const interfacesOf = (domain: Element): Element[] => domain.all('devices/interface')

export const macOf = (nic: Element): string => nic.attribute('mac/address') ?? ''

/** Of a private interface, with its prefix. */
export const privateAddressOf = (nic: Element): string | undefined => nic.attribute('virtualport/parameters/profileid')
