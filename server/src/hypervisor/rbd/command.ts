// Runs `rbd` of ceph-common, and `qemu-img` with Ceph's block driver, on this machine: no host is in the path. Ceph's programs exit with an
// errno, which alone decides what a failure is. The key of the pool's user is in a file, never an argument.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { span } from '../../kernel/tracing.ts'
import { DriverError, isDriverError, type DriverErrorKind } from '../errors.ts'

const { errno } = constants

const KIND_OF_EXIT = new Map<number, DriverErrorKind>([
  [errno.ENOENT, 'not_found'],
  [errno.EEXIST, 'conflict'],
  [errno.EBUSY, 'in_use'],
  [errno.ENOTEMPTY, 'in_use'],
  [errno.ESTALE, 'in_use'], // another process is removing it
  [errno.ENOSPC, 'no_space'],
  [errno.EDQUOT, 'no_space'],
  [errno.EPERM, 'permanent'],
  [errno.EACCES, 'permanent'],
  [errno.EINVAL, 'permanent'],
])

class ExitError extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text || `exit code ${code}`)
    this.name = 'ExitError'
    this.code = code
  }
}

/** Whether it is a failure of a program with one of these exit codes. */
export const hasExit = (error: unknown, ...names: (keyof typeof errno)[]): boolean =>
  error instanceof DriverError && error.cause instanceof ExitError && names.some((name) => errno[name] === (error.cause as ExitError).code)

/** Without CEPH_ARGS and the like. */
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
const PACKAGES = { rbd: 'ceph-common', ceph: 'ceph-common', 'qemu-img': 'qemu-utils qemu-block-extra' }
const KEPT_CHARS = 2_000

type Tool = keyof typeof PACKAGES

/** The program, and a promise of its end, which rejects with a DriverError unless it ends well. It is killed when the signal aborts; `what`
 *  completes "Could not …". */
function start(tool: Tool, what: string, args: string[], signal: AbortSignal, stdin: 'ignore' | 'pipe') {
  const aborted = (): DriverError => new DriverError('aborted', `The wait to ${what} was ended by its caller`)
  if (signal.aborted) throw aborted()
  const child = spawn(tool, args, { env: ENVIRONMENT, stdio: [stdin, 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' })
  let complaint = ''
  child.stderr!.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk.toString()).slice(-KEPT_CHARS)))
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)).then(
    (code) => {
      if (code === 0) return
      const cause = new ExitError(code ?? -1, complaint.trim())
      const kind = (tool !== 'qemu-img' && KIND_OF_EXIT.get(cause.code)) || 'transient'
      throw new DriverError(kind, `Could not ${what}: ${cause.message}`, { cause })
    },
    (error: unknown) => {
      if (signal.aborted) throw aborted()
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      const reason = isMissing ? `${tool} is not installed: apt-get install ${PACKAGES[tool]}` : (error as Error).message
      throw new DriverError('permanent', `Could not ${what}: ${reason}`, { cause: error })
    },
  )
  ended.catch(() => undefined) // its reader may be busy with the output
  return { child, ended }
}

/** Resolves to stdout. `input` is piped to the program; its failure is the result's. */
export const runTool: typeof carryOut = (tool, what, args, signal, input) =>
  span(`run ${tool}`, {}, () => carryOut(tool, what, args, signal, input))

async function carryOut(tool: Tool, what: string, args: string[], signal: AbortSignal, input?: AsyncIterable<Buffer>): Promise<string> {
  const { child, ended } = start(tool, what, args, signal, input ? 'pipe' : 'ignore')
  const output: Buffer[] = []
  child.stdout!.on('data', (chunk: Buffer) => void output.push(chunk))
  if (input)
    await pipeline(input, child.stdin!).catch((error: unknown) => {
      const isClosed = ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '')
      if (isClosed || signal.aborted) return // the program says why
      child.kill('SIGKILL')
      throw error
    })
  await ended
  return Buffer.concat(output).toString()
}

/** Yields stdout. The program ends with its reader. */
export async function* readTool(tool: Tool, what: string, args: string[], signal: AbortSignal): AsyncGenerator<Buffer> {
  const { child, ended } = start(tool, what, args, signal, 'ignore')
  try {
    yield* child.stdout! as AsyncIterable<Buffer>
    await ended
  } finally {
    child.kill('SIGKILL')
  }
}

export const undefinedIfNotFound = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isDriverError(error, 'not_found')) return undefined
    throw error
  })

const POLL_INTERVAL_MS = 1_000

export async function retryWhile<T>(
  isExpected: (error: unknown) => boolean,
  patienceMs: number,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    try {
      return await work()
    } catch (error) {
      if (!isExpected(error) || waitedMs >= patienceMs) throw error
    }
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined) // the next attempt says `aborted`
  }
}
