// Interface XML, written and parsed.
import type { Machine, NicSpec } from '../../driver.ts'
import { filterName, networkIdOf, networkName, PRIVATE_FILTER, PUBLIC_NETWORK } from '../core/resource-names.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

/** The filter gets the address as a parameter: otherwise libvirt learns it from the guest's first packet. `canShapeTraffic`: a domain with a limit
 *  does not start on a kernel that cannot shape traffic. */
export const interfaceXml = (vmId: string, { mac, kind, networkId, address, limitMbps }: NicSpec, canShapeTraffic: boolean): Xml =>
  element(
    'interface',
    { type: 'network' },
    element('mac', { address: mac }),
    element('source', { network: networkId ? networkName(networkId) : PUBLIC_NETWORK }),
    canShapeTraffic && limitMbps !== null && bandwidthXml(limitMbps),
    element('model', { type: 'virtio' }),
    element(
      'filterref',
      { filter: kind === 'public' ? filterName(vmId) : PRIVATE_FILTER },
      element('parameter', { name: 'IP', value: address }),
    ),
    element('rom', { enabled: 'no' }),
  )

const bandwidthXml = (limitMbps: number): Xml => {
  const average = toKiBPerSecond(limitMbps)
  return element('bandwidth', {}, element('inbound', { average }), element('outbound', { average }))
}

/** libvirt's unit is KiB per second. */
export const toKiBPerSecond = (mbps: number): number => Math.max(1, Math.round((mbps * 1_000_000) / 8 / 1024))
const toMbps = (kibPerSecond: number): number => Math.round((kibPerSecond * 8 * 1024) / 1_000_000)

export const interfacesOf = (domain: Element): Element[] => domain.all('devices/interface')

export const macOf = (nic: Element): string => nic.attribute('mac/address') ?? ''

/** The address that its filter allows. */
export const addressOf = (nic: Element): string | undefined =>
  nic.all('filterref/parameter').find(({ attributes }) => attributes['name'] === 'IP')?.attributes['value']

export function readInterface(nic: Element): Machine['nics'][number] {
  const average = Number(nic.attribute('bandwidth/inbound/average') ?? 0)
  return { mac: macOf(nic), networkId: networkIdOf(nic.attribute('source/network') ?? ''), limitMbps: average > 0 ? toMbps(average) : null }
}
