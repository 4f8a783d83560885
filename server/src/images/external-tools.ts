// Runs the programs that make and check images. A program that is missing is named with the package that brings it; one that fails is
// quoted with the last lines it said. All run in the C locale, because their output is read.
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Debian keeps some of them where only root looks. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

const PACKAGES = {
  'apt-config': 'apt',
  'apt-get': 'apt',
  chroot: 'coreutils',
  cpio: 'cpio',
  depmod: 'kmod',
  'dpkg-deb': 'dpkg',
  'grub-mkimage': 'grub-common',
  mcopy: 'mtools',
  mformat: 'mtools',
  mke2fs: 'e2fsprogs',
  mmd: 'mtools',
  mmdebstrap: 'mmdebstrap',
  prlimit: 'util-linux',
  'qemu-img': 'qemu-utils',
  sfdisk: 'fdisk',
  unshare: 'util-linux',
} as const

export type Tool = keyof typeof PACKAGES

export interface RunOptions {
  cwd?: string
  input?: string | Buffer
  signal?: AbortSignal
  timeoutMs?: number
  limits?: Limits
  /** Exit codes that are no failure. */
  okCodes?: number[]
  /** Each line as it is said. */
  heard?: (line: string) => void
}

/** What a program that reads a file from elsewhere may take. */
export interface Limits {
  memoryBytes?: number
  cpuSeconds?: number
  /** Of any file it writes. */
  fileBytes?: number
}

/** Throws one sentence that names every package to install. */
export function requireTools(...tools: Tool[]): void {
  const missing = tools.filter((tool) => findTool(tool) === undefined)
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((tool) => PACKAGES[tool]))].join(' ')
  throw new Error(`This needs ${missing.join(', ')}, which this machine lacks: sudo apt-get install -y --no-install-recommends ${packages}`)
}

const KEPT_CHARS = 4_000
const LIMIT_MS = 30 * 60_000

/** What the program wrote to its standard output. */
export async function run(tool: Tool, args: string[], options: RunOptions = {}): Promise<string> {
  requireTools(tool)
  const limit = AbortSignal.timeout(options.timeoutMs ?? LIMIT_MS)
  const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
  const command = ['LC_ALL=C', ...limitedBy(options.limits), findTool(tool)!, ...args]
  const child = spawn('/usr/bin/env', command, { cwd: options.cwd, signal, killSignal: 'SIGKILL', stdio: ['pipe', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  let said = ''
  const hear = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-KEPT_CHARS)
    if (options.heard) for (const line of chunk.toString().split(/[\r\n]+/)) if (line.trim()) options.heard(line.trim())
  }
  child.stdout.on('data', (chunk: Buffer) => {
    output.push(chunk)
    hear(chunk)
  })
  child.stderr.on('data', hear)
  child.stdin.on('error', () => {}) // a program that fails early reads no further; its exit code tells
  child.stdin.end(options.input ?? '')
  const code = await ended(child).catch((error: unknown) => {
    if (limit.aborted)
      throw new Error(`${tool} took longer than ${(options.timeoutMs ?? LIMIT_MS) / 1000} s and was stopped`, { cause: error })
    throw error
  })
  if (!(options.okCodes ?? [0]).includes(code ?? -1)) throw new Error(`${tool} failed: ${lastLines(said) || `exit code ${code}`}`)
  return Buffer.concat(output).toString()
}

function limitedBy(limits: Limits | undefined): string[] {
  if (!limits) return []
  requireTools('prlimit')
  const { memoryBytes, cpuSeconds, fileBytes } = limits
  const flags = { as: memoryBytes, cpu: cpuSeconds, fsize: fileBytes }
  return [findTool('prlimit')!, ...Object.entries(flags).flatMap(([flag, most]) => (most === undefined ? [] : [`--${flag}=${most}`]))]
}

function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
}

const lastLines = (text: string): string => text.trim().split('\n').slice(-5).join('\n')

function findTool(tool: Tool): string | undefined {
  return FOLDERS.map((folder) => join(folder, tool)).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false // not here: the next folder may have it
    }
  })
}
