// The smallest programs that UEFI starts, which write a text to the first serial port again and again; and a FAT12 volume that has them where removable media do.
import type { Arch } from '../src/hypervisor/driver.ts'

const SECTOR = 512
/** Of the volume: boot sector, two FATs of one sector, a root directory of one, and clusters of one from there on. */
const [FATS, ROOT, DATA] = [[1, 2], 3, 4]
export const EFI_VOLUME_SECTORS = 64

/** Wherever it is loaded. */
const CODE: Record<Arch, { machine: number; code: string[] }> = {
  x86_64: {
    machine: 0x86_64,
    code: [
      '488d3526000000', // again: lea rsi, [rip + text]
      'ac 84c0 7414', // print: lodsb; test al, al; jz rest
      '88c4 66bafd03', // mov ah, al; mov dx, 0x3fd
      'ec a820 74fb', // wait: in al, dx; test al, 0x20; jz wait
      '88e0 66baf803 ee ebe7', // mov al, ah; mov dx, 0x3f8; out dx, al; jmp print
      '48c7c100000001', // rest: mov rcx, 1 << 24
      'f390 e2fc', // spin: pause; loop spin
      'ebd3', // jmp again
    ],
  },
  aarch64: {
    machine: 0xaa_64,
    code: [
      '41010010', // again: adr x1, text
      '0220a1d2', // mov x2, 0x9000000, the PL011 of the machine
      '20144038', // print: ldrb w0, [x1], 1
      '60000034', // cbz w0, rest
      '40000039', // strb w0, [x2]
      'fdffff17', // b print
      '0380a0d2', // rest: mov x3, 1 << 26
      '630400f1', // spin: subs x3, x3, 1
      'e1ffff54', // b.ne spin
      'f7ffff17', // b again
    ],
  },
}

/** PE32+ of one section, with nothing to relocate. */
function efiProgram(arch: Arch, text: string): Buffer {
  const { machine, code } = CODE[arch]
  const body = Buffer.concat([Buffer.from(code.join('').replaceAll(' ', ''), 'hex'), Buffer.from(`${text}\r\n\0`)])
  const file = Buffer.alloc(2 * SECTOR)
  file.set(Buffer.from('MZ'))
  file.writeUInt32LE(0x40, 0x3c)
  file.set(Buffer.from('PE\0\0'), 0x40)
  const header = file.subarray(0x44)
  header.writeUInt16LE(machine, 0)
  header.writeUInt16LE(1, 2) // sections
  header.writeUInt16LE(0xf0, 16) // of the optional header
  header.writeUInt16LE(0x222, 18)
  const optional = header.subarray(20)
  optional.writeUInt16LE(0x20b, 0)
  for (const [offset, value] of [
    [4, SECTOR], // size of the code
    [16, 0x1000], // entry
    [20, 0x1000], // base of the code
    [32, 0x1000], // alignment in memory
    [36, SECTOR], // and in the file
    [56, 0x2000], // size in memory
    [60, SECTOR], // size of the headers
    [108, 16], // directories, all empty
  ] as const)
    optional.writeUInt32LE(value, offset)
  optional.writeUInt16LE(10, 68) // an EFI application
  const section = optional.subarray(0xf0)
  section.set(Buffer.from('.text'))
  for (const [offset, value] of [
    [8, body.length],
    [12, 0x1000],
    [16, SECTOR],
    [20, SECTOR],
    [36, 0x6000_0020],
  ] as const)
    section.writeUInt32LE(value, offset)
  file.set(body, SECTOR)
  return file
}

const DIRECTORY = 0x10

function entry(name: string, attributes: number, cluster: number, bytes = 0): Buffer {
  const record = Buffer.alloc(32)
  record.set(Buffer.from(name.padEnd(11)))
  record[11] = attributes
  record.writeUInt16LE(cluster, 26)
  record.writeUInt32LE(bytes, 28)
  return record
}

export function efiVolume(text: string): Buffer {
  const volume = Buffer.alloc(EFI_VOLUME_SECTORS * SECTOR)
  volume.set([0xeb, 0x3c, 0x90, ...Buffer.from('BERTH   ')])
  volume.writeUInt16LE(SECTOR, 11)
  volume[13] = 1 // sectors of a cluster
  volume.writeUInt16LE(1, 14) // before the FATs
  volume[16] = FATS.length
  volume.writeUInt16LE(SECTOR / 32, 17) // entries of the root
  volume.writeUInt16LE(EFI_VOLUME_SECTORS, 19)
  volume[21] = 0xf8
  volume.writeUInt16LE(1, 22) // sectors of a FAT
  volume.set([0x55, 0xaa], 510)
  const cluster = (number: number, content: Buffer): void => volume.set(content, (DATA + number - 2) * SECTOR)
  // Clusters 2 and 3 are directories; 4 leads to 5, and 6 to 7.
  const fat = Buffer.from('f8ffff' + 'ffffff' + '05f0ff' + '07f0ff', 'hex')
  for (const each of FATS) volume.set(fat, each * SECTOR)
  volume.set(entry('EFI', DIRECTORY, 2), ROOT * SECTOR)
  cluster(2, Buffer.concat([entry('.', DIRECTORY, 2), entry('..', DIRECTORY, 0), entry('BOOT', DIRECTORY, 3)]))
  const programs = [efiProgram('x86_64', text), efiProgram('aarch64', text)] as const
  const files = [entry('BOOTX64 EFI', 0x20, 4, programs[0].length), entry('BOOTAA64EFI', 0x20, 6, programs[1].length)]
  cluster(3, Buffer.concat([entry('.', DIRECTORY, 3), entry('..', DIRECTORY, 2), ...files]))
  cluster(4, programs[0])
  cluster(6, programs[1])
  return volume
}
