// Debian 12 as a cloud image: cloud-init, guest agent and sshd on a minimal system, installed by mmdebstrap from this machine's apt
// sources. root/ is copied into the guest, setup.sh runs inside it. For the other architecture QEMU emulates the programs that run meanwhile.
import { chmod, copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianArch, serialConsole } from '../arch.ts'
import { type Arch } from '../../kernel/arch.ts'
import { EFI_TOOLS, makeDisk } from '../disk.ts'
import { requirePrograms, withPrograms } from '../foreign-programs.ts'
import { grubPackage, platformOf } from '../grub.ts'
import type { Build } from '../build-options.ts'
import { requireTools, run } from '../external-tools.ts'
import { debianSources } from './sources.ts'

const HERE = import.meta.dirname
const RELEASE = 'bookworm'
const LABEL = 'debian-root'
const SIZE_MIB = 1536

const PACKAGES = [
  'ca-certificates',
  'cloud-guest-utils',
  'cloud-init',
  'curl',
  'dbus',
  'e2fsprogs',
  'grub2-common',
  'iproute2',
  'iputils-ping',
  'kmod',
  'less',
  'nano',
  'openssh-server',
  'qemu-guest-agent',
  'sudo',
  'systemd',
  'systemd-resolved',
  'systemd-sysv',
  'udev',
  'zstd',
]
/** Documentation takes a third of the space. */
const EXCLUDED_PATHS = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*']

export const buildDebian: Build = async ({ arch, folder, progress, signal }, output) => {
  requireTools('mmdebstrap', 'unshare', 'chroot', 'mke2fs', 'sfdisk', 'grub-mkimage', 'qemu-img', ...EFI_TOOLS)
  requirePrograms(arch)
  const root = join(folder, 'root')
  await chmod(folder, 0o755) // apt drops root's privileges while it works in the folder
  progress('installing packages (some minutes)')
  await install(root, arch, folder, signal)
  progress('setting the system up')
  await setUp(root, arch, signal)
  progress('writing the disk')
  const modulesFolder = join(root, 'usr/lib/grub')
  const boot = { arch, modulesFolder, modules: GRUB_MODULES, config: BOOT_CONFIG, prefix: '/boot/grub' }
  const efi = arch === 'x86_64' ? { efiFiles: await signedLoader(root, folder) } : {}
  await makeDisk({ root, label: LABEL, table: 'gpt', sizeMiB: SIZE_MIB, boot, ...efi, folder, signal }, output)
}

/** For the other architecture, where each program is emulated. */
const INSTALL_MS = 3 * 3600_000

async function install(root: string, arch: Arch, folder: string, signal: AbortSignal): Promise<void> {
  const sources = await debianSources(RELEASE)
  const files = Object.entries(sources).filter(([, text]) => text !== '')
  for (const [ending, text] of files) await writeFile(join(folder, `debian.${ending}`), text)
  const settings = (await run('apt-config', ['dump'], { signal }))
    .split('\n')
    .filter((line) => /^Acquire::(https?::|Check-Valid-Until)/.test(line))
  await writeFile(join(folder, 'apt.conf'), [...settings, 'Apt::Install-Recommends "false";', ''].join('\n'))
  const packages = [...PACKAGES, `linux-image-cloud-${debianArch(arch)}`, grubPackage(arch), ...(arch === 'x86_64' ? SIGNED_LOADER : [])]
  // mmdebstrap mounts /proc, /sys and /dev into the new system. In its own mount namespace the mounts end with it, so removing the folder
  // cannot delete anything of this machine.
  await run(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      // setup.sh makes the initrd, once: it takes minutes under emulation.
      ...withPrograms(arch, 'env', 'INITRD=No', 'mmdebstrap'),
      '--mode=root',
      '--variant=minbase',
      '--quiet',
      `--architectures=${debianArch(arch)}`,
      `--include=${packages.join(',')}`,
      `--aptopt=${join(folder, 'apt.conf')}`,
      ...EXCLUDED_PATHS.map((path) => `--dpkgopt=path-exclude=${path}`),
      RELEASE,
      root,
      ...files.map(([ending]) => join(folder, `debian.${ending}`)),
    ],
    { signal, timeoutMs: INSTALL_MS },
  )
}

async function setUp(root: string, arch: Arch, signal: AbortSignal): Promise<void> {
  const serial = serialConsole(arch)
  await cp(join(HERE, 'root'), root, { recursive: true, mode: 0 })
  const defaults = join(root, 'etc/default/grub')
  await writeFile(defaults, (await readFile(defaults, 'utf8')).replace('@SERIAL@', serial))
  const script = await readFile(join(HERE, 'setup.sh'), 'utf8')
  const shell = ['chroot', root, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', `SERIAL=${serial}`, '/bin/sh']
  await run('unshare', ['--mount', ...withPrograms(arch, ...shell)], { input: script, signal })
  await setUpBoot(root, arch, serial)
}

/** Writes the configuration that update-grub will write at the next kernel update, and the GRUB modules it needs. */
async function setUpBoot(root: string, arch: Arch, serial: string): Promise<void> {
  const kernel = (await readdir(join(root, 'lib/modules')))[0]
  if (kernel === undefined) throw new Error('No kernel was installed')
  const modules = join(root, 'boot/grub', platformOf(arch))
  await mkdir(modules, { recursive: true })
  for (const name of await readdir(join(root, 'usr/lib/grub', platformOf(arch)))) {
    if (/\.(mod|lst)$/.test(name)) await copyFile(join(root, 'usr/lib/grub', platformOf(arch), name), join(modules, name))
  }
  const [, , ...emulation] = (await readFile(join(root, 'etc/grub.d/06_emulation'), 'utf8')).trim().split('\n')
  const options = `console=tty0 console=${serial},115200 net.ifnames=0 biosdevname=0 quiet $emulation`
  const config = [
    'set timeout=0',
    ...emulation,
    `linux /boot/vmlinuz-${kernel} root=LABEL=${LABEL} ro ${options}`,
    `initrd /boot/initrd.img-${kernel}`,
    'boot',
    '',
  ]
  await writeFile(join(root, 'boot/grub/grub.cfg'), config.join('\n'))
}

/** What distributions sign for secure boot: firmware trusts shim, shim trusts GRUB and the kernel. It boots UEFI without secure boot too. */
async function signedLoader(root: string, folder: string): Promise<Record<string, string>> {
  const config = join(folder, 'efi.cfg')
  await writeFile(config, BOOT_CONFIG)
  return {
    'EFI/BOOT/BOOTX64.EFI': join(root, 'usr/lib/shim/shimx64.efi.signed'),
    'EFI/BOOT/grubx64.efi': join(root, 'usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed'),
    'EFI/debian/grub.cfg': config,
  }
}

const SIGNED_LOADER = ['shim-signed', 'grub-efi-amd64-signed']

const GRUB_MODULES = ['search', 'search_label', 'search_fs_uuid', 'linux', 'normal', 'configfile', 'echo', 'test', 'gzio', 'boot', 'smbios']
const BOOT_CONFIG = [`search.fs_label ${LABEL} root`, 'set prefix=($root)/boot/grub', 'configfile ($root)/boot/grub/grub.cfg', ''].join(
  '\n',
)
