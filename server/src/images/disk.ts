// Builds a bootable disk from a folder: partition table, boot partition, and one ext4 file system as last partition so that it can grow.
import { rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Arch } from '../kernel/arch.ts'
import { installForBios, makeGrub, SECTOR, type Boot } from './grub.ts'
import { run, type Tool } from './external-tools.ts'

export interface DiskPlan {
  /** Folder with the content of the root file system. */
  root: string
  label: string
  /** gpt: any size. dos: up to 2 TiB, and a guest grows its partition by writing four bytes. */
  table: 'gpt' | 'dos'
  sizeMiB: number
  boot: Boot
  /** Files of an EFI system partition beside BIOS: the program that firmware starts first, by its path there, and what it needs. */
  efiFiles?: Record<string, string>
  /** For temporary files; must exist. */
  folder: string
  signal: AbortSignal
}

/** Tools that write to an EFI system partition. */
export const EFI_TOOLS: Tool[] = ['mformat', 'mmd', 'mcopy']

const SECTORS_PER_MIB = 2048
const BOOT_START = SECTORS_PER_MIB
const BOOT_MIB = 4
const BOOT_END = BOOT_START + BOOT_MIB * SECTORS_PER_MIB
const EFI_MIB = 16
/** The backup GPT, rounded up to whole blocks. */
const END_SECTORS = 40

/** BIOS boot partition or EFI system partition, and Linux. */
const TYPES: Record<DiskPlan['table'], Record<Arch | 'linux', string>> = {
  gpt: {
    x86_64: '21686148-6449-6E6F-744E-656564454649',
    aarch64: 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B',
    linux: '0FC63DAF-8483-4772-8E79-3D69D8477DE4',
  },
  dos: { x86_64: 'da', aarch64: 'ef', linux: '83' },
}
const EFI_FILE = 'EFI/BOOT/BOOTAA64.EFI'

/** Writes the disk as qcow2: compat 1.1, uncompressed. */
export async function makeDisk(plan: DiskPlan, output: string): Promise<void> {
  const { boot, folder, signal } = plan
  const [disk, grub] = [join(folder, 'disk.raw'), join(folder, 'grub.img')]
  await writeFile(disk, '')
  await truncate(disk, plan.sizeMiB * SECTORS_PER_MIB * SECTOR)
  await partition(disk, plan)
  await makeFileSystem(disk, plan)
  await makeGrub(boot, grub, signal)
  if (boot.arch === 'x86_64') await installForBios(disk, boot.modulesFolder, grub, BOOT_START)
  else await writeEfiPartition(disk, { start: BOOT_START, mib: BOOT_MIB, files: { [EFI_FILE]: grub } }, signal)
  if (plan.efiFiles) await writeEfiPartition(disk, { start: BOOT_END, mib: EFI_MIB, files: plan.efiFiles }, signal)
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '-o', 'compat=1.1', disk, output], { signal })
  await rm(disk)
}

const rootStart = ({ efiFiles }: DiskPlan): number => BOOT_END + (efiFiles ? EFI_MIB * SECTORS_PER_MIB : 0)

const rootSectors = (plan: DiskPlan): number => Math.floor((plan.sizeMiB * SECTORS_PER_MIB - rootStart(plan) - END_SECTORS) / 8) * 8

async function partition(disk: string, plan: DiskPlan): Promise<void> {
  const types = TYPES[plan.table]
  const table = [
    `label: ${plan.table}`,
    `1: start=${BOOT_START},size=${BOOT_MIB * SECTORS_PER_MIB},type=${types[plan.boot.arch]}`,
    `2: start=${rootStart(plan)},size=${rootSectors(plan)},type=${types.linux}`,
    // The number that it has in the images of distributions.
    ...(plan.efiFiles ? [`15: start=${BOOT_END},size=${EFI_MIB * SECTORS_PER_MIB},type=${types.aarch64}`] : []),
  ]
  await run('sfdisk', ['-q', disk], { input: `${table.join('\n')}\n`, signal: plan.signal })
}

/** Disables features that older kernels or GRUB cannot read. */
async function makeFileSystem(disk: string, plan: DiskPlan): Promise<void> {
  const extended = `offset=${rootStart(plan) * SECTOR},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`
  const options = ['-q', '-F', '-t', 'ext4', '-b', '4096', '-L', plan.label, '-O', '^metadata_csum_seed,^orphan_file', '-E', extended]
  await run('mke2fs', [...options, '-d', plan.root, disk, String(rootSectors(plan) / 8)], { signal: plan.signal })
}

interface EfiPartition {
  start: number
  mib: number
  /** Source of each, by its path. */
  files: Record<string, string>
}

async function writeEfiPartition(disk: string, { start, mib, files }: EfiPartition, signal: AbortSignal): Promise<void> {
  const image = `${disk}@@${start * SECTOR}`
  await run('mformat', ['-i', image, '-T', String(mib * SECTORS_PER_MIB), '-h', '64', '-s', '32', '-v', 'EFI', '::'], { signal })
  const folders = new Set(Object.keys(files).map(dirname))
  await run('mmd', ['-i', image, '::/EFI', ...[...folders].map((folder) => `::/${folder}`)], { signal })
  for (const [path, source] of Object.entries(files)) await run('mcopy', ['-i', image, source, `::/${path}`], { signal })
}
