// Downloads and unpacks Debian packages of any architecture without touching the installed ones: apt runs with its own state and the
// sources of this machine.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianArch } from './arch.ts'
import { type Arch } from '../kernel/arch.ts'
import { run } from './external-tools.ts'

export interface Download {
  arch: Arch
  names: string[]
  /** Dependencies that only an installed system needs; treated as installed. */
  without: string[]
  /** Packages unpacked without their dependencies. */
  alone: string[]
  /** For apt's state and the packages; must exist. */
  folder: string
  signal: AbortSignal
}

/** Unpacks the packages and their dependencies into one tree, and returns its folder. */
export async function unpackPackages({ arch, names, without, alone, folder, signal }: Download): Promise<string> {
  const apt = await ownApt(arch, without, join(folder, 'apt'))
  const tree = join(folder, 'packages')
  await run('apt-get', [...apt.options, 'update'], { signal })
  await run('apt-get', [...apt.options, '--download-only', '--no-install-recommends', 'install', ...names], { signal })
  await run('apt-get', [...apt.options, 'download', ...alone], { cwd: apt.archives, signal })
  await mkdir(tree, { recursive: true })
  for (const file of await readdir(apt.archives)) {
    if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(apt.archives, file), tree], { signal })
  }
  return tree
}

async function ownApt(arch: Arch, without: string[], folder: string): Promise<{ options: string[]; archives: string }> {
  const archives = join(folder, 'cache/archives')
  for (const each of [join(folder, 'lists/partial'), join(archives, 'partial')]) await mkdir(each, { recursive: true })
  const status = join(folder, 'status')
  await writeFile(status, without.map((name) => installed(name, debianArch(arch))).join('\n'))
  const settings = [
    `Dir::State=${folder}`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    `APT::Architecture=${debianArch(arch)}`,
    `APT::Architectures=${debianArch(arch)}`,
    'APT::Sandbox::User=root', // the sandbox user could not read this folder
    'APT::Get::AllowUnauthenticated=false',
  ]
  return { options: ['-qq', '-y', ...settings.flatMap((setting) => ['-o', setting])], archives }
}

const installed = (name: string, arch: string): string =>
  [
    `Package: ${name}`,
    'Status: install ok installed',
    'Maintainer: none',
    `Architecture: ${arch}`,
    'Version: 9999',
    'Description: none',
    '',
  ].join('\n')
