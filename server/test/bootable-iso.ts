// The smallest ISO image that a machine starts from: a BIOS, or UEFI of either architecture, runs what its El Torito catalog names, which says so on the serial
// console, again and again.
import { isoImage } from '../src/hypervisor/libvirt/storage/iso9660.ts'
import { EFI_VOLUME_SECTORS, efiVolume } from './bootable-efi.ts'

export const STARTED_FROM_ISO = 'BERTH STARTED FROM ITS ISO IMAGE'

const SECTOR = 2048
const CATALOG = 21
const PROGRAM = 22
const EFI = 23

/** 16-bit code, wherever it is loaded. */
const program = Buffer.concat([
  Buffer.from(
    [
      'fa', // cli
      '8cc8 8ed8', // mov ax, cs; mov ds, ax
      '31c0 8ed0 bc007c', // xor ax, ax; mov ss, ax; mov sp, 0x7c00
      'fb', // sti
      'e80000 5e 83c628', // again: call next; next: pop si; add si, text - next
      'fc', // cld
      'ac 84c0 7412', // print: lodsb; test al, al; jz rest
      '88c4 bafd03', // mov ah, al; mov dx, 0x3fd
      'ec a820 74fb', // wait: in al, dx; test al, 0x20; jz wait
      '88e0 baf803 ee ebe9', // mov al, ah; mov dx, 0x3f8; out dx, al; jmp print
      'b486 b90300 ba0000 cd15', // rest: for a fifth of a second, by the BIOS
      'ebd5', // jmp again
    ]
      .join('')
      .replaceAll(' ', ''),
    'hex',
  ),
  Buffer.from(`${STARTED_FROM_ISO}\r\n\0`),
])

export function bootableIso(): Buffer {
  const efi = efiVolume(STARTED_FROM_ISO)
  const image = Buffer.alloc(EFI * SECTOR + efi.length)
  isoImage('BERTH', {}).copy(image)
  image.fill(0, 17 * SECTOR, 19 * SECTOR)
  const record = image.subarray(17 * SECTOR)
  record.set([0, ...Buffer.from('CD001'), 1, ...Buffer.from('EL TORITO SPECIFICATION')])
  record.writeUInt32LE(CATALOG, 0x47)
  image.set([255, ...Buffer.from('CD001'), 1], 18 * SECTOR)
  const catalog = image.subarray(CATALOG * SECTOR)
  catalog[0] = 1
  catalog.set([0x55, 0xaa], 30)
  catalog.writeUInt16LE(0x10000 - 0xaa55 - 1, 28) // all its words add up to nothing
  catalog[32] = 0x88
  catalog.writeUInt16LE(SECTOR / 512, 38)
  catalog.writeUInt32LE(PROGRAM, 40)
  catalog.set([0x91, 0xef, 1], 64) // the last section, for UEFI, of one entry
  catalog[96] = 0x88
  catalog.writeUInt16LE(EFI_VOLUME_SECTORS, 102)
  catalog.writeUInt32LE(EFI, 104)
  image.set(program, PROGRAM * SECTOR)
  image.set(efi, EFI * SECTOR)
  return image
}
