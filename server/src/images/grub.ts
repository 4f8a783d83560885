// GRUB, made bootable by writing the few sectors and files it needs: no loop device, no mount, no grub-install.
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arch } from './arch.ts'
import { run } from './external-tools.ts'

export const SECTOR = 512

export interface Boot {
  arch: Arch
  /** GRUB's own modules: usr/lib/grub of the unpacked package. */
  modulesFolder: string
  modules: string[]
  /** Commands run before anything else. */
  config: string
  prefix: string
}

/** The package that brings GRUB's modules for the firmware guests of the architecture start with. */
export const grubPackage = (arch: Arch): string => ({ x86_64: 'grub-pc-bin', aarch64: 'grub-efi-arm64-bin' })[arch]

export const platformOf = (arch: Arch): string => ({ x86_64: 'i386-pc', aarch64: 'arm64-efi' })[arch]
const DISK_DRIVER: Record<Arch, string[]> = { x86_64: ['biosdisk'], aarch64: [] }

/** GRUB as one file: an EFI program, or what a BIOS loads from the sectors behind the first. */
export async function makeGrub(boot: Boot, output: string, signal: AbortSignal): Promise<void> {
  const platform = platformOf(boot.arch)
  await writeFile(`${output}.cfg`, boot.config)
  const args = ['-d', join(boot.modulesFolder, platform), '-O', platform, '-o', output, '-p', boot.prefix, '-c', `${output}.cfg`]
  await run('grub-mkimage', [...args, 'part_gpt', 'part_msdos', 'ext2', ...DISK_DRIVER[boot.arch], ...boot.modules], { signal })
}

/** For a BIOS: its first sector loads GRUB from the sectors at `startSector`. */
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

/** What follows in the first sector is the partition table's. */
const CODE_BYTES = 440
const [KERNEL_SECTOR, BOOT_DRIVE, DRIVE_CHECK] = [0x5c, 0x64, 0x66]

function firstSector(image: Buffer, startSector: number): Buffer {
  const sector = Buffer.from(image)
  sector.writeBigUInt64LE(BigInt(startSector), KERNEL_SECTOR)
  sector[BOOT_DRIVE] = 0xff // the drive the BIOS says it started from
  sector.fill(0x90, DRIVE_CHECK, DRIVE_CHECK + 2) // and believe it
  return sector
}

/** The list of sectors in the first one: where the rest is (u64), how many (u16), and the segment it is loaded to (u16). */
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
