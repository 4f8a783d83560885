// Two programs for guests without a compiler or an interpreter for raw sockets: one sends a frame, the other prints every frame it
// receives. They are a few dozen machine instructions each.
import type { Arch } from '../src/kernel/arch.ts'

interface Programs {
  /** ELF machine types. */
  machine: number
  /** socket(AF_PACKET, SOCK_RAW, 0); read(0, buffer); sendto(socket, buffer + 20, length - 20, 0, buffer, 20); exit */
  send: string
  /** socket(AF_PACKET, SOCK_RAW, all); for (;;) write(1, buffer, read(socket, buffer)) */
  sniff: string
}

const PROGRAMS: Record<Arch, Programs> = {
  aarch64: {
    machine: 183,
    send: `200280d2 610080d2 020080d2 c81880d2 010000d4 f30300aa ff0740d1 000080d2 e1030091 020082d2 e80780d2 010000d4
      025000d1 e00313aa e1530091 030080d2 e4030091 850280d2 c81980d2 010000d4 00fc7fd3 a80b80d2 010000d4`,
    sniff: `200280d2 610080d2 026080d2 c81880d2 010000d4 f30300aa ff0740d1
      e00313aa e1030091 020082d2 e80780d2 010000d4 e20300aa 200080d2 e1030091 080880d2 010000d4 f6ffff17`,
  },
  x86_64: {
    machine: 62,
    send: `bf11000000 be03000000 31d2 b829000000 0f05 89c3 4881ec00100000 31ff 4889e6 ba00100000 31c0 0f05
      89df 488d742414 8d50ec 4531d2 4989e0 41b914000000 b82c000000 0f05 89c7 c1ef1f b83c000000 0f05`,
    sniff: `bf11000000 be03000000 ba00030000 b829000000 0f05 89c3 4881ec00100000
      89df 4889e6 ba00100000 31c0 0f05 89c2 bf01000000 4889e6 b801000000 0f05 ebdf`,
  },
}

const BASE = 0x400000n
const HEADERS = 120

/** A minimal executable: one segment with the file itself. */
function executable(machine: number, code: Buffer): Buffer {
  const header = Buffer.alloc(HEADERS)
  header.write('\x7fELF\x02\x01\x01', 'latin1')
  header.writeUInt16LE(2, 16) // executable
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(BASE + BigInt(HEADERS), 24) // entry point
  header.writeBigUInt64LE(64n, 32) // program header offset
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  header.writeUInt32LE(1, 64) // PT_LOAD
  header.writeUInt32LE(5, 68) // read and execute
  header.writeBigUInt64LE(BASE, 80)
  header.writeBigUInt64LE(BASE, 88)
  for (const at of [96, 104]) header.writeBigUInt64LE(BigInt(HEADERS + code.length), at)
  header.writeBigUInt64LE(0x10000n, 112)
  return Buffer.concat([header, code])
}

/** Shell script for a guest: writes both programs to /run. */
export function installTools(arch: Arch): string {
  const { machine, ...programs } = PROGRAMS[arch]
  return Object.entries(programs)
    .map(([name, hex]) => {
      const file = executable(machine, Buffer.from(hex.replace(/\s/g, ''), 'hex')).toString('base64')
      return `echo ${file} | base64 -d > /run/${name} && chmod +x /run/${name}`
    })
    .join(' && ')
}

/** Shell command for a guest: sends the frame on the interface with that index. */
export function sendCommand(frame: Buffer, interfaceNumber: number): string {
  const address = Buffer.alloc(20) // struct sockaddr_ll
  address.writeUInt16LE(17, 0)
  frame.copy(address, 2, 12, 14)
  address.writeInt32LE(interfaceNumber, 4)
  address.writeUInt8(6, 11)
  frame.copy(address, 12, 0, 6)
  return `echo ${Buffer.concat([address, frame]).toString('base64')} | base64 -d | /run/send`
}
