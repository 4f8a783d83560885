// Ethernet frames for spoofing tests.
import { formatIpRange, parseIp } from '../src/kernel/ip-range.ts'

export interface End {
  mac: string
  address: string
}

const macBytes = (mac: string): Buffer => Buffer.from(mac.replaceAll(':', ''), 'hex')
const quad = (address: string): Buffer => Buffer.from(address.split('.').map(Number))
const u16 = (...values: number[]): Buffer => Buffer.from(values.flatMap((value) => [value >> 8, value & 255]))

export const BROADCAST = 'ff:ff:ff:ff:ff:ff'
const ALL_NODES = '33:33:00:00:00:01'

const ether = (from: string, to: string, type: number, ...payload: Buffer[]): Buffer =>
  Buffer.concat([macBytes(to), macBytes(from), u16(type), ...payload])

/** With a valid checksum: a filtering bridge drops invalid packets from any sender. */
function ipv4(from: string, to: string, protocol: number, payload: Buffer): Buffer {
  const header = Buffer.concat([u16(0x4500, 20 + payload.length, 0, 0, 0x4000 | protocol, 0), quad(from), quad(to)])
  header.writeUInt16BE(checksum(header), 10)
  return Buffer.concat([header, payload])
}

/** Of RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i]! << 8) | (bytes[i + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16)
  return ~sum & 0xffff
}

const datagram = (fromPort: number, toPort: number, text: string): Buffer =>
  Buffer.concat([u16(fromPort, toPort, 8 + text.length, 0), Buffer.from(text)])

const ICMP = 1
const UDP = 17
const ICMPV6 = 58

/** `as` is the spoofed source. */
export const udpFrame = (from: End, to: End, text: string, ports = { from: 4000, to: 4001 }, as: Partial<End> = {}): Buffer =>
  ether(as.mac ?? from.mac, to.mac, 0x0800, ipv4(as.address ?? from.address, to.address, UDP, datagram(ports.from, ports.to, text)))

/** Of any protocol. */
export const ipFrame = (from: End, to: End, protocol: number, text: string): Buffer =>
  ether(from.mac, to.mac, 0x0800, ipv4(from.address, to.address, protocol, Buffer.from(text)))

/** An ICMP echo request. */
export const echoFrame = (from: End, to: End): Buffer => {
  const request = u16(0x0800, 0, 1, 1)
  request.writeUInt16BE(checksum(request), 2)
  return ether(from.mac, to.mac, 0x0800, ipv4(from.address, to.address, ICMP, request))
}

/** How the answer to it goes on after the addresses of its ends, in latin1. */
export const echoAnswer = (from: End, to: End): string => Buffer.concat([quad(to.address), quad(from.address), u16(0)]).toString('latin1')

/** The text follows the packet, in the padding of short frames. */
export const arpFrame = (from: End, to: End, operation: 'ask' | 'answer', text: string, as: Partial<End> = {}): Buffer => {
  const sender = [macBytes(as.mac ?? from.mac), quad(as.address ?? from.address)]
  const body = Buffer.concat([u16(1, 0x0800, 0x0604, operation === 'ask' ? 1 : 2), ...sender, macBytes(to.mac), quad(to.address)])
  return ether(from.mac, to.mac, 0x0806, body, Buffer.from(text.padEnd(18)))
}

const ipv6 = (protocol: number, to: Buffer, payload: Buffer): Buffer => {
  const from = Buffer.from('fe800000000000000000000000000001', 'hex')
  return Buffer.concat([u16(0x6000, 0, payload.length, (protocol << 8) | 255), from, to, payload])
}
const ALL_NODES_ADDRESS = Buffer.from('ff020000000000000000000000000001', 'hex')

/** A router advertisement to all nodes. */
export const routerAdvertisement = (from: End, text: string): Buffer => {
  const advertisement = Buffer.concat([u16(0x8600, 0, 0x4000, 1800, 0, 0, 0, 0), Buffer.from(text)])
  return ether(from.mac, ALL_NODES, 0x86dd, ipv6(ICMPV6, ALL_NODES_ADDRESS, advertisement))
}

export const ipv6Frame = (from: End, to: End, text: string): Buffer =>
  ether(from.mac, to.mac, 0x86dd, ipv6(UDP, ALL_NODES_ADDRESS, datagram(4000, 4001, text)))

const hextets = (address: string): Buffer => Buffer.from(parseIp(address)!.base.toString(16).padStart(32, '0'), 'hex')

/** Between two IPv6 addresses, with the checksum that connection tracking demands at `checksumAt` of the payload. */
function ipv6Between(from: End, to: End, protocol: number, payload: Buffer, checksumAt: number, hops = 64): Buffer {
  const [source, target] = [hextets(from.address), hextets(to.address)]
  const pseudoHeader = Buffer.concat([source, target, u16(0, payload.length, 0, protocol)])
  payload.writeUInt16BE(checksum(Buffer.concat([pseudoHeader, payload])), checksumAt)
  return ether(from.mac, to.mac, 0x86dd, u16(0x6000, 0, payload.length, (protocol << 8) | hops), source, target, payload)
}

export const udp6Frame = (from: End, to: End, text: string, ports = { from: 4000, to: 4001 }): Buffer =>
  ipv6Between(from, to, UDP, datagram(ports.from, ports.to, text), 6)

/** Of any protocol, with four bytes before the text. */
export const ip6Frame = (from: End, to: End, protocol: number, text: string): Buffer =>
  ipv6Between(from, to, protocol, Buffer.concat([u16(0, 0), Buffer.from(text)]), 2, 255)

/** The link-local address that a kernel gives an interface with this MAC (EUI-64). */
export const linkLocalOf = (mac: string): string => {
  const [a, ...rest] = [...macBytes(mac)]
  const [b, c, d, e, f] = rest.map((byte) => byte.toString(16).padStart(2, '0'))
  return formatIpRange(parseIp(`fe80::${(a! ^ 2).toString(16)}${b}:${c}ff:fe${d}:${e}${f}`)!)
}

/** Of an option that nobody knows, which carries the text. */
const textOption = (text: string): Buffer => Buffer.concat([Buffer.from([253, 2]), Buffer.from(text.padEnd(14))])

/** From the sender's own link-local address to all nodes. */
export const ownRouterAdvertisement = ({ mac }: End, text: string): Buffer => {
  const advertisement = Buffer.concat([u16(0x8600, 0, 0x4000, 1800, 0, 0, 0, 0), textOption(text)])
  return ipv6Between({ mac, address: linkLocalOf(mac) }, { mac: ALL_NODES, address: 'ff02::1' }, ICMPV6, advertisement, 2, 255)
}

/** Of multicast listener discovery, to all routers that follow it. */
export const listenerReport = ({ mac }: Pick<End, 'mac'>, text: string): Buffer => {
  const report = Buffer.concat([u16(0x8f00, 0, 0, 0), Buffer.from(text)])
  return ipv6Between({ mac, address: linkLocalOf(mac) }, { mac: '33:33:00:00:00:16', address: 'ff02::16' }, ICMPV6, report, 2, 1)
}

/** Says that the sender has that address. */
export const neighbourAdvertisement = (from: End, to: End, target: string, text: string): Buffer => {
  const link = Buffer.concat([Buffer.from([2, 1]), macBytes(from.mac)])
  const advertisement = Buffer.concat([u16(0x8800, 0, 0x6000, 0), hextets(target), link, textOption(text)])
  return ipv6Between(from, to, ICMPV6, advertisement, 2, 255)
}

export const echo6Frame = (from: End, to: End, text: string): Buffer =>
  ipv6Between(from, to, ICMPV6, Buffer.concat([u16(0x8000, 0, 1, 1), Buffer.from(text)]), 2)

/** With a VLAN tag. */
export const taggedFrame = (from: End, to: End, text: string): Buffer =>
  ether(from.mac, to.mac, 0x8100, u16(7, 0x0800), ipv4(from.address, to.address, UDP, datagram(4000, 4001, text)))

/** What a guest broadcasts to get an address. */
export const dhcpDiscover = ({ mac }: Pick<End, 'mac'>): Buffer => {
  const message = Buffer.alloc(300)
  message.set([1, 1, 6, 0, 0x12, 0x34, 0x56, 0x78], 0) // request, Ethernet, transaction id
  message.set(macBytes(mac), 28)
  message.set([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 255], 236) // magic cookie, DHCPDISCOVER
  const udp = Buffer.concat([u16(68, 67, 8 + message.length, 0), message])
  return ether(mac, BROADCAST, 0x0800, ipv4('0.0.0.0', '255.255.255.255', UDP, udp))
}
