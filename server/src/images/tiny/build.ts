// The tiny template: Debian's cloud kernel, busybox, an SSH server and the guest agent. It boots in seconds even under emulation; for
// tests, demos, evaluation, and VMs in rescue. root/ and initrd/ are copied into the guest.
import { chmod, copyFile, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { debianArch, serialConsole } from '../arch.ts'
import { type Arch } from '../../kernel/arch.ts'
import { EFI_TOOLS, makeDisk } from '../disk.ts'
import { grubPackage } from '../grub.ts'
import { unpackPackages } from '../packages.ts'
import { requireTools, run } from '../external-tools.ts'
import type { Build } from '../build-options.ts'
import { readLinking } from './libraries.ts'
import { loadOrder, withoutSignature } from './modules.ts'

const HERE = import.meta.dirname
const SIZE_MIB = 128
const LABEL = 'tiny-root'

const PACKAGES = ['busybox-static', 'dropbear-bin', 'qemu-guest-agent', 'e2fsprogs', 'openssh-sftp-server']
/** Dependencies that only an installed system needs. */
const NOT_INSTALLED = ['initramfs-tools', 'linux-base', 'kmod', 'debconf', 'init-system-helpers', 'adduser', 'dpkg', 'tar']

const PROGRAMS = [
  'usr/sbin/dropbear',
  'usr/bin/dropbearkey',
  'usr/sbin/qemu-ga',
  'sbin/e2fsck',
  'sbin/mke2fs',
  'sbin/resize2fs',
  'usr/lib/openssh/sftp-server',
]
/** DISK_MODULES are needed to mount the root disk, MODULES for the rest. */
const DISK_MODULES = ['virtio_pci', 'virtio_blk', 'ext4']
const MODULES = ['virtio_net', 'virtio_console', 'virtio_rng', 'virtio_balloon', 'virtio_input', 'isofs', 'button', 'evdev']

export const buildTiny: Build = async ({ arch, folder, progress, signal }, output) => {
  requireTools(
    'apt-get',
    'dpkg-deb',
    'depmod',
    'cpio',
    'mke2fs',
    'sfdisk',
    'grub-mkimage',
    'qemu-img',
    ...(arch === 'aarch64' ? EFI_TOOLS : []),
  )
  progress('downloading packages')
  const names = [...PACKAGES, `linux-image-cloud-${debianArch(arch)}`]
  const packages = await unpackPackages({ arch, names, without: NOT_INSTALLED, alone: [grubPackage(arch)], folder, signal })
  progress('putting the system together')
  const kernel = await findKernel(packages, signal)
  const root = join(folder, 'root')
  await makeRoot(root, packages, kernel)
  await makeInitrd(join(folder, 'initrd'), packages, kernel, join(root, 'boot/initrd'), signal)
  progress('writing the disk')
  const boot = {
    arch,
    modulesFolder: join(packages, 'usr/lib/grub'),
    modules: GRUB_MODULES,
    config: bootConfig(arch),
    prefix: '/boot/grub',
  }
  await makeDisk({ root, label: LABEL, table: 'dos', sizeMiB: SIZE_MIB, boot, folder, signal }, output)
}

const GRUB_MODULES = ['search', 'search_label', 'linux', 'boot']

const bootConfig = (arch: Arch): string =>
  [
    `search.fs_label ${LABEL} root`,
    `linux /boot/vmlinuz console=tty0 console=${serialConsole(arch)},115200 quiet cryptomgr.notests`,
    'initrd /boot/initrd',
    'boot',
    '',
  ].join('\n')

interface Kernel {
  image: string
  modules: string
  dependencies: string
  builtin: string
}

async function findKernel(packages: string, signal: AbortSignal): Promise<Kernel> {
  const version = (await readdir(join(packages, 'lib/modules')))[0]
  if (version === undefined) throw new Error('The kernel package holds no modules')
  await run('depmod', ['-b', packages, version], { signal })
  const modules = join(packages, 'lib/modules', version)
  const read = (name: string): Promise<string> => readFile(join(modules, name), 'utf8')
  const [dependencies, builtin] = await Promise.all([read('modules.dep'), read('modules.builtin')])
  return { image: join(packages, `boot/vmlinuz-${version}`), modules, dependencies, builtin }
}

/** All programs are in one folder and all libraries in another; the usual paths are symlinks. */
async function makeRoot(root: string, packages: string, kernel: Kernel): Promise<void> {
  for (const name of ['boot', 'dev', 'proc', 'sys', 'run', 'mnt', 'home', 'etc/dropbear', 'usr/bin', 'usr/lib', 'var/log', 'var/lib']) {
    await mkdir(join(root, name), { recursive: true })
  }
  const links = { bin: 'usr/bin', sbin: 'usr/bin', lib: 'usr/lib', lib64: 'usr/lib', 'usr/sbin': 'bin', 'var/run': '../run' }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name))
  await mkdir(join(root, 'root'), { mode: 0o700 })
  await mkdir(join(root, 'tmp'))
  await chmod(join(root, 'tmp'), 0o1777) // mkdir applies the umask
  await copyPrograms(root, packages)
  await copyModules(join(root, 'lib/modules'), kernel, MODULES, DISK_MODULES)
  await copyFile(kernel.image, join(root, 'boot/vmlinuz'))
  await copyOwnFiles(join(HERE, 'root'), root)
  await linkApplets(join(root, 'usr/bin'), join(packages, 'bin/busybox'))
  await symlink('/usr/bin/busybox', join(root, 'usr/bin/init')).catch(ignoreExisting)
}

async function copyPrograms(root: string, packages: string): Promise<void> {
  for (const program of PROGRAMS) await copyFile(join(packages, program), join(root, 'usr/bin', basename(program)))
  await symlink('mke2fs', join(root, 'usr/bin/mkfs.ext4'))
  await symlink('e2fsck', join(root, 'usr/bin/fsck.ext4'))
  await symlink('../bin/sftp-server', join(root, 'usr/lib/sftp-server')) // the path dropbear expects
  const libraries = await librariesIn(packages)
  const waiting = PROGRAMS.map((program) => join(packages, program))
  const copied = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { interpreter, needed } = await readLinking(path)
    for (const name of [...needed, ...(interpreter ? [basename(interpreter)] : [])]) {
      if (copied.has(name)) continue
      const library = libraries.get(name)
      if (!library) throw new Error(`${basename(path)} needs ${name}, and no package contains it`)
      await copyFile(library, join(root, 'usr/lib', name))
      copied.add(name)
      waiting.push(library)
    }
  }
}

async function librariesIn(packages: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const folder of ['lib', 'lib64', 'usr/lib']) {
    const files = await readdir(join(packages, folder), { recursive: true, withFileTypes: true }).catch(() => []) // not every architecture has lib64
    for (const file of files) {
      if (file.isDirectory() || !/\.so(\.|$)/.test(file.name)) continue
      const path = await realpath(join(file.parentPath, file.name)).catch(() => undefined) // a symlink that points out of the tree
      if (path?.startsWith(await realpath(packages))) found.set(file.name, path)
    }
  }
  return found
}

async function copyModules(folder: string, kernel: Kernel, names: string[], loaded: string[] = []): Promise<void> {
  await mkdir(folder, { recursive: true })
  const order = (wanted: string[]): string[] => loadOrder(wanted, kernel.dependencies, kernel.builtin)
  const paths = order([...loaded, ...names]).slice(order(loaded).length)
  for (const path of paths) await writeFile(join(folder, basename(path)), withoutSignature(await readFile(join(kernel.modules, path))))
  await writeFile(join(folder, 'order'), paths.map((path) => `${basename(path)}\n`).join(''))
}

/** Sets the file modes explicitly: a checkout may have changed them. */
async function copyOwnFiles(from: string, to: string): Promise<void> {
  for (const file of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const source = join(file.parentPath, file.name)
    const target = join(to, source.slice(from.length))
    await mkdir(dirname(target), { recursive: true })
    await copyFile(source, target)
    const isScript = (await readFile(source, 'utf8')).startsWith('#!')
    await chmod(target, isScript ? 0o755 : file.name === 'shadow' ? 0o600 : 0o644)
  }
}

/** Links every applet of busybox; existing files are kept. */
async function linkApplets(folder: string, busybox: string): Promise<void> {
  await copyFile(busybox, join(folder, 'busybox'))
  for (const name of appletsOf(await readFile(busybox))) await symlink('busybox', join(folder, name)).catch(ignoreExisting)
}

/** Reads the applet table from the binary, which may be for another architecture. */
export function appletsOf(busybox: Buffer): string[] {
  const start = busybox.indexOf('[\0[[\0')
  const end = busybox.indexOf('\0\0', start)
  if (start < 0 || end < 0) throw new Error('This busybox does not list its applets')
  return busybox.toString('latin1', start, end).split('\0')
}

const INITRD_APPLETS = ['sh', 'mount', 'insmod', 'sleep', 'dd', 'blockdev', 'switch_root']

async function makeInitrd(folder: string, packages: string, kernel: Kernel, output: string, signal: AbortSignal): Promise<void> {
  for (const name of ['bin', 'dev', 'sys', 'root']) await mkdir(join(folder, name), { recursive: true })
  await copyOwnFiles(join(HERE, 'initrd'), folder)
  await copyFile(join(packages, 'bin/busybox'), join(folder, 'bin/busybox'))
  for (const name of INITRD_APPLETS) await symlink('busybox', join(folder, 'bin', name))
  await copyModules(join(folder, 'modules'), kernel, DISK_MODULES)
  const names = ['.', ...(await readdir(folder, { recursive: true }))]
  await run('cpio', ['-o', '-H', 'newc', '-R', '0:0', '--quiet', '-F', output], { cwd: folder, input: `${names.join('\n')}\n`, signal })
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
