// Link speed of a host's network cards, from libvirt's node devices.
import { RemoteError, type Host } from '@berth/libvirt'
import { readXml } from '../core/xml.ts'

/** Of the fastest card with a link, in Mbit/s; null where libvirt does not know, as for a virtual card or without its node device driver. */
export async function readUplinkMbps({ devices }: Pick<Host, 'devices'>): Promise<number | null> {
  try {
    const cards = await Promise.all((await devices.listAll({ flags: ['net'] })).map(async ({ name }) => devices.getXml({ name })))
    return Math.max(0, ...cards.map(linkMbps)) || null
  } catch (error) {
    if (error instanceof RemoteError) return null
    throw error
  }
}

/** Virtual cards report a speed of -1, which libvirt prints as 4294967295. */
const UNKNOWN_MBPS = 10_000_000

/** Bridges and veth pairs have the parent `computer` and claim 10 Gbit/s. */
export function linkMbps(xml: string): number {
  const device = readXml(xml)
  const link = device.find('capability/link')?.attributes
  const isCard = device.find('parent')?.text !== 'computer'
  const mbps = isCard && link?.['state'] === 'up' ? Number(link['speed'] ?? 0) : 0
  return mbps < UNKNOWN_MBPS ? mbps : 0
}
