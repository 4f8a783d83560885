// Runs the programs that build and check images, in the C locale because their output is parsed. Errors name the package of a missing
// program and quote the last lines of a failed one.
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { asUser, ENVIRONMENT } from '../kernel/os-user.ts'

/** The sbin folders are not in every PATH. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

const PACKAGES = {
  'apt-config': 'apt',
  'apt-get': 'apt',
  'arch-test': 'arch-test',
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
  'qemu-aarch64-static': 'qemu-user-static',
  'qemu-img': 'qemu-utils',
  'qemu-x86_64-static': 'qemu-user-static',
  sfdisk: 'fdisk',
  unshare: 'util-linux',
  xz: 'xz-utils',
} as const

export type Tool = keyof typeof PACKAGES

export interface RunOptions {
  cwd?: string
  input?: string | Buffer
  signal?: AbortSignal
  timeoutMs?: number
  limits?: Limits
  /** Exit codes that count as success. */
  okCodes?: number[]
  /** Without our environment, and as nobody where this process is root: the folders and files that it needs must belong to that user. */
  isUnprivileged?: boolean
  /** Called with each line of output. */
  onLine?: (line: string) => void
}

/** Resource limits for a program that reads an untrusted file. */
export interface Limits {
  memoryBytes?: number
  cpuSeconds?: number
  /** Per file written. */
  fileBytes?: number
}

/** Throws one error that names every package to install. */
export function requireTools(...tools: Tool[]): void {
  const missing = tools.filter((tool) => !isInstalled(tool))
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((tool) => PACKAGES[tool]))].join(' ')
  throw new Error(`${missing.join(', ')} not installed: sudo apt-get install -y --no-install-recommends ${packages}`)
}

/** Guests and the API come first: a build takes minutes of all CPUs. `-t`: not every container may set the class of I/O. */
const LOW_PRIORITY = ['nice', '-n', '19', 'ionice', '-c', '3', '-t']

const KEPT_CHARS = 4_000
const LIMIT_MS = 30 * 60_000
/** What a program says about an untrusted file is kept in memory: such a file can have it name thousands of things in it. */
const MAX_OUTPUT_BYTES = 1024 ** 2

/** Resolves to stdout. */
export async function run(tool: Tool, args: string[], options: RunOptions = {}): Promise<string> {
  const { child, note, succeeded } = begin(tool, args, options)
  const output: Buffer[] = []
  let left = options.limits ? MAX_OUTPUT_BYTES : Infinity
  child.stdout.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) return void child.kill('SIGKILL')
    output.push(chunk)
    note(chunk)
  })
  await succeeded().catch((error: unknown) => {
    throw left < 0 ? new Error(`${tool} says too much about the file: more than ${MAX_OUTPUT_BYTES / 1024} KiB`) : error
  })
  return Buffer.concat(output).toString()
}

/** Its stdout, as it comes. The program is killed when that is not read further. */
export async function* stream(tool: Tool, args: string[], options: RunOptions = {}): AsyncGenerator<Buffer> {
  const { child, succeeded } = begin(tool, args, options)
  const success = succeeded()
  success.catch(() => {}) // it is awaited below, unless nobody reads to the end
  try {
    yield* child.stdout
    await success
  } finally {
    child.kill('SIGKILL')
  }
}

function begin(tool: Tool, args: string[], options: RunOptions) {
  requireTools(tool)
  const limit = AbortSignal.timeout(options.timeoutMs ?? LIMIT_MS)
  const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
  const command = [
    'LC_ALL=C',
    'MALLOC_ARENA_MAX=1', // each thread would reserve 64 MiB of address space, which is what is limited
    ...LOW_PRIORITY,
    ...limitedBy(options.limits),
    ...(options.isUnprivileged ? withoutRoot() : []),
    findTool(tool)!,
    ...args,
  ]
  const child = spawn('/usr/bin/env', command, {
    cwd: options.cwd,
    ...(options.isUnprivileged && { env: ENVIRONMENT }),
    signal,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let tail = ''
  const note = (chunk: Buffer): void => {
    tail = (tail + chunk.toString()).slice(-KEPT_CHARS)
    if (options.onLine) for (const line of chunk.toString().split(/[\r\n]+/)) if (line.trim()) options.onLine(line.trim())
  }
  child.stderr.on('data', note)
  child.stdin.on('error', () => {}) // a program that fails early closes stdin; its exit code is reported
  child.stdin.end(options.input ?? '')
  const succeeded = async (): Promise<void> => {
    const code = await ended(child).catch((error: unknown) => {
      if (limit.aborted)
        throw new Error(`${tool} took longer than ${(options.timeoutMs ?? LIMIT_MS) / 1000} s and was stopped`, { cause: error })
      throw error
    })
    if (!(options.okCodes ?? [0]).includes(code ?? -1)) throw new Error(`${tool} failed: ${lastLines(tail) || `exit code ${code}`}`)
  }
  return { child, note, succeeded }
}

/** Of the kernel for users that it does not know, and of Debian's `nobody`. */
export const NOBODY = 65_534

const withoutRoot = (): string[] => [...(process.getuid?.() === 0 ? asUser({ uid: NOBODY, gid: NOBODY }) : ['setpriv']), '--no-new-privs']

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

export const isInstalled = (tool: Tool): boolean => findTool(tool) !== undefined

function findTool(tool: Tool): string | undefined {
  return FOLDERS.map((folder) => join(folder, tool)).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
