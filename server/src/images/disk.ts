// Builds a bootable disk from a folder: partition table, boot partition, and one ext4 file system as last partition so that it can grow.
import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  /** For temporary files; must exist. */
  folder: string
  signal: AbortSignal
}

/** Tools that write to an EFI system partition. */
export const EFI_TOOLS: Tool[] = ['mformat', 'mmd', 'mcopy']

const SECTORS_PER_MIB = 2048
const BOOT_START = SECTORS_PER_MIB
const BOOT_MIB = 4
const ROOT_START = BOOT_START + BOOT_MIB * SECTORS_PER_MIB
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
const EFI_FILE = '::/EFI/BOOT/BOOTAA64.EFI'

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
  else await installForEfi(disk, grub, signal)
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '-o', 'compat=1.1', disk, output], { signal })
  await rm(disk)
}

const rootSectors = ({ sizeMiB }: DiskPlan): number => Math.floor((sizeMiB * SECTORS_PER_MIB - ROOT_START - END_SECTORS) / 8) * 8

async function partition(disk: string, plan: DiskPlan): Promise<void> {
  const types = TYPES[plan.table]
  const table = [
    `label: ${plan.table}`,
    `start=${BOOT_START},size=${BOOT_MIB * SECTORS_PER_MIB},type=${types[plan.boot.arch]}`,
    `start=${ROOT_START},size=${rootSectors(plan)},type=${types.linux}`,
  ]
  await run('sfdisk', ['-q', disk], { input: `${table.join('\n')}\n`, signal: plan.signal })
}

/** Disables features that older kernels or GRUB cannot read. */
async function makeFileSystem(disk: string, plan: DiskPlan): Promise<void> {
  const extended = `offset=${ROOT_START * SECTOR},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`
  const options = ['-q', '-F', '-t', 'ext4', '-b', '4096', '-L', plan.label, '-O', '^metadata_csum_seed,^orphan_file', '-E', extended]
  await run('mke2fs', [...options, '-d', plan.root, disk, String(rootSectors(plan) / 8)], { signal: plan.signal })
}

async function installForEfi(disk: string, grub: string, signal: AbortSignal): Promise<void> {
  const image = `${disk}@@${BOOT_START * SECTOR}`
  await run('mformat', ['-i', image, '-T', String(BOOT_MIB * SECTORS_PER_MIB), '-h', '64', '-s', '32', '-v', 'EFI', '::'], { signal })
  await run('mmd', ['-i', image, '::/EFI', '::/EFI/BOOT'], { signal })
  await run('mcopy', ['-i', image, grub, EFI_FILE], { signal })
}
