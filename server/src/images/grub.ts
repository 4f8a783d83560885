// Makes GRUB bootable by writing its sectors and files directly: no loop device, no mount, no grub-install.
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arch } from '../kernel/arch.ts'
import { run } from './external-tools.ts'

export const SECTOR = 512

export interface Boot {
  arch: Arch
  /** GRUB's own modules: usr/lib/grub of the unpacked package. */
  modulesFolder: string
  modules: string[]
  /** Commands embedded in the image, run first. */
  config: string
  prefix: string
}

/** The package with GRUB's modules for the firmware of that architecture. */
export const grubPackage = (arch: Arch): string => ({ x86_64: 'grub-pc-bin', aarch64: 'grub-efi-arm64-bin' })[arch]

export const platformOf = (arch: Arch): string => ({ x86_64: 'i386-pc', aarch64: 'arm64-efi' })[arch]
const DISK_DRIVER: Record<Arch, string[]> = { x86_64: ['biosdisk'], aarch64: [] }

/** GRUB as one file: an EFI program, or the core image that a BIOS boot sector loads. */
export async function makeGrub(boot: Boot, output: string, signal: AbortSignal): Promise<void> {
  const platform = platformOf(boot.arch)
  await writeFile(`${output}.cfg`, boot.config)
  const args = ['-d', join(boot.modulesFolder, platform), '-O', platform, '-o', output, '-p', boot.prefix, '-c', `${output}.cfg`]
  await run('grub-mkimage', [...args, 'part_gpt', 'part_msdos', 'ext2', ...DISK_DRIVER[boot.arch], ...boot.modules], { signal })
}

/** Writes the boot sector, which loads GRUB from the sectors at `startSector`. */
export async function installForBios(disk: string, modulesFolder: string, grub: string, startSector: number): Promise<void> {
  const first = firstSector(await readFile(join(modulesFolder, 'i386-pc/boot.img')), startSector)
  const core = coreImage(await readFile(grub), startSector)
  const file = await open(disk, 'r+')
  try {
    await file.write(first, 0, CODE_BYTES, 0)
    await file.write(core, 0, core.length, startSector * SECTOR)
  } finally {
    await file.close()
  }
}

/** The partition table follows in the first sector. */
const CODE_BYTES = 440
const [KERNEL_SECTOR, BOOT_DRIVE, DRIVE_CHECK] = [0x5c, 0x64, 0x66]

function firstSector(image: Buffer, startSector: number): Buffer {
  const sector = Buffer.from(image)
  sector.writeBigUInt64LE(BigInt(startSector), KERNEL_SECTOR)
  sector[BOOT_DRIVE] = 0xff // 0xff: use the drive reported by the BIOS
  sector.fill(0x90, DRIVE_CHECK, DRIVE_CHECK + 2) // NOPs: skip the check of that drive
  return sector
}

/** The block list in the core image: first sector (u64), count (u16), load segment (u16). */
const BLOCK_LIST = 0x1f4
const LOAD_SEGMENT = 0x820

function coreImage(image: Buffer, startSector: number): Buffer {
  const sectors = Math.ceil(image.length / SECTOR)
  const core = Buffer.concat([image, Buffer.alloc(sectors * SECTOR - image.length)])
  core.writeBigUInt64LE(BigInt(startSector + 1), BLOCK_LIST)
  core.writeUInt16LE(sectors - 1, BLOCK_LIST + 8)
  core.writeUInt16LE(LOAD_SEGMENT, BLOCK_LIST + 10)
  return core
}
