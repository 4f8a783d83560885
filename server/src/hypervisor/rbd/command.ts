// Runs `rbd` of ceph-common, and `qemu-img` with Ceph's block driver, on this machine: no host is in the path. Ceph's programs exit with an
// errno, which alone decides what a failure is. The key of the pool's user is in a file, never an argument.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { DriverError, type DriverErrorKind } from '../errors.ts'

const { errno } = constants

const KIND_OF_EXIT = new Map<number, DriverErrorKind>([
  [errno.ENOENT, 'not_found'],
  [errno.EEXIST, 'conflict'],
  [errno.EBUSY, 'in_use'],
  [errno.ENOTEMPTY, 'in_use'],
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

/** Resolves to stdout. The program is killed when the signal aborts; `what` completes "Could not …". */
export async function runTool(tool: keyof typeof PACKAGES, what: string, args: string[], signal: AbortSignal): Promise<string> {
  const aborted = (): DriverError => new DriverError('aborted', `The wait to ${what} was ended by its caller`)
  if (signal.aborted) throw aborted()
  const child = spawn(tool, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' })
  const output: Buffer[] = []
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => void output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk.toString()).slice(-KEPT_CHARS)))
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)).catch(
    (error: unknown) => {
      if (signal.aborted) throw aborted()
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      const reason = isMissing ? `${tool} is not installed: apt-get install ${PACKAGES[tool]}` : (error as Error).message
      throw new DriverError('permanent', `Could not ${what}: ${reason}`, { cause: error })
    },
  )
  if (code === 0) return Buffer.concat(output).toString()
  const cause = new ExitError(code ?? -1, complaint.trim())
  throw new DriverError((tool !== 'qemu-img' && KIND_OF_EXIT.get(cause.code)) || 'transient', `Could not ${what}: ${cause.message}`, {
    cause,
  })
}
