// Frames that a guest must not be able to send: a neighbour on the same network that captures all frames receives none.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { installTools, sendCommand } from './frame-tools.ts'
import { arpFrame, BROADCAST, ipv6Frame, routerAdvertisement, taggedFrame, udpFrame, type End } from './frames.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests, type Guest } from './real-guests.ts'

interface Wire {
  villain: End
  neighbour: End
  gateway: string
  /** Unassigned. */
  free: string
}

const OTHER_MAC = '02:66:66:66:66:66'
const OFFER = { from: 67, to: 68 }

/** By what is spoofed. */
function forgeries({ villain, neighbour, gateway, free }: Wire): Record<string, (text: string) => Buffer> {
  const everybody = { mac: BROADCAST, address: '255.255.255.255' }
  const ordinary = { from: 4000, to: 4001 }
  return {
    'a MAC of its own invention': (text) => udpFrame(villain, neighbour, text, ordinary, { mac: OTHER_MAC }),
    "the neighbour's own MAC": (text) => udpFrame(villain, neighbour, text, ordinary, { mac: neighbour.mac }),
    'an address nobody has': (text) => udpFrame(villain, neighbour, text, ordinary, { address: free }),
    "the gateway's address": (text) => udpFrame(villain, neighbour, text, ordinary, { address: gateway }),
    'an ARP answer for the gateway': (text) => arpFrame(villain, neighbour, 'answer', text, { address: gateway }),
    'an ARP answer for the gateway to everybody': (text) => arpFrame(villain, everybody, 'answer', text, { address: gateway }),
    'an ARP question in the name of another': (text) => arpFrame(villain, neighbour, 'ask', text, { address: free }),
    'an ARP answer with another MAC': (text) => arpFrame(villain, neighbour, 'answer', text, { mac: OTHER_MAC }),
    'an offer of a DHCP server': (text) => udpFrame(villain, everybody, text, OFFER),
    'an offer of the DHCP server': (text) => udpFrame(villain, neighbour, text, OFFER, { address: gateway }),
    'a router advertisement': (text) => routerAdvertisement(villain, text),
    IPv6: (text) => ipv6Frame(villain, neighbour, text),
    'a VLAN': (text) => taggedFrame(villain, neighbour, text),
  }
}

describeIf(missingForRealHost())('a spoofing guest', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, boot, inside, host, broken } = await realGuests()
  const { regionId } = await customer.tiny()
  const { id: lan } = await customer.make('/networks', {
    name: 'lan',
    nodeId: regionId,
    cidr: '10.203.0.0/24',
    enableSnat: true,
    enableDhcp: true,
  })
  const [villain, neighbour] = await Promise.all([
    boot('villain', { privateNetworkIds: [lan] }),
    boot('neighbour', { privateNetworkIds: [lan] }),
  ])
  for (const guest of [villain, neighbour]) await inside(guest, installTools(nativeArch()))
  await inside(neighbour, '/run/sniff > /run/seen 2> /dev/null &')

  const end = async (guest: Guest, device: string): Promise<End> => {
    const [mac, address] = (
      await inside(guest, `cat "/sys/class/net/$0/address"; ip -o -4 addr show "$0" | awk '{ split($4, at, "/"); print at[1] }'`, device)
    ).split('\n')
    return { mac: mac!, address: address! }
  }
  const numberOf = async (device: string): Promise<number> => Number(await inside(villain, 'cat "/sys/class/net/$0/ifindex"', device))
  const sees = (marks: string[]): Promise<string> =>
    inside(neighbour, marks.map((mark) => `grep -q '${mark}' /run/seen && echo '${mark}'`).join('\n'))

  test.each([
    ['public', 'eth0', host.gateway, '10.77.255.254'],
    ['private', 'eth1', '10.203.0.1', '10.203.0.200'],
  ])('does not reach its neighbour in the %s network', async (kind, device, gateway, free) => {
    const wire: Wire = { villain: await end(villain, device), neighbour: await end(neighbour, device), gateway, free }
    const number = await numberOf(device)
    const lies = Object.values(forgeries(wire)).map((forge, index) => {
      const mark = `lie-${kind}-${String.fromCharCode(97 + index)}`
      return { mark, frame: forge(mark) }
    })
    const honest = ['first', 'last'].map((text) => {
      const mark = `true-${kind}-${text}`
      return { mark, frame: udpFrame(wire.villain, wire.neighbour, mark) }
    })
    const all = [honest[0]!, ...lies, honest[1]!]
    const sent = await inside(villain, all.map(({ mark, frame }) => `${sendCommand(frame, number)} && echo ${mark}`).join('\n'))
    expect(sent.split('\n')).toEqual(all.map(({ mark }) => mark))
    // Frames sent before this one would have arrived before it.
    await expect.poll(() => sees([honest[1]!.mark])).toBe(honest[1]!.mark)
    expect(await sees(all.map(({ mark }) => mark))).toBe(honest.map(({ mark }) => mark).join('\n'))
  })

  test('cannot spoof by changing its own address', async () => {
    const target = (await end(neighbour, 'eth0')).address
    const reaches = (prepare: string, undo: string): Promise<string> =>
      inside(villain, `${prepare}; ping -c 1 -W 2 ${target} > /dev/null && echo yes || echo no; ${undo}`)
    const { mac, address } = await end(villain, 'eth0')
    expect(await reaches(':', ':')).toBe('yes')
    const setMac = (to: string): string => `ip link set eth0 down; ip link set eth0 address ${to}; ip link set eth0 up`
    expect(await reaches(setMac(OTHER_MAC), setMac(mac))).toBe('no')
    expect(
      await reaches(
        `ip addr flush dev eth0; ip addr add 10.77.255.254/16 dev eth0`,
        `ip addr flush dev eth0; ip addr add ${address}/16 dev eth0`,
      ),
    ).toBe('no')
    expect(await reaches(':', ':')).toBe('yes')
    expect(await broken()).toBe('')
  })
})
