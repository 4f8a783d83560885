// Debian packages of any architecture, downloaded and unpacked without touching what is installed here: apt works on a state of its own,
// with the sources this machine is set up with.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianArch, type Arch } from './arch.ts'
import { run } from './external-tools.ts'

export interface Download {
  arch: Arch
  names: string[]
  /** Dependencies that matter only to an installed system: taken to be there already. */
  without: string[]
  /** Packages of which only their own files matter. */
  alone: string[]
  /** For apt's state and the files; must exist. */
  folder: string
  signal: AbortSignal
}

/** Unpacks the packages and what they depend on into one tree, and answers its folder. */
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
    'APT::Sandbox::User=root', // the folder is nobody else's to read
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
