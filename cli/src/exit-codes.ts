// Exit codes and error messages. Scripts decide by the code whether to wait, pay, sign in or fail.
import { ActionTimeoutError, ApiError, BerthError, isApiError } from '@berth/sdk'

export const EXIT = { ok: 0, failed: 1, usage: 2, auth: 3, notFound: 4, conflict: 5, money: 6, timeout: 7, rateLimited: 8 } as const

type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error of the command itself, with a message for its user. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Passes on the exit code of a child process such as ssh, which has printed its own errors. */
export class ChildExitError extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

export const usageError = (message: string): CliError => new CliError(EXIT.usage, message)

/** For a request that the command makes besides the one that it is named after: `.catch(neededFor('to …'))`. */
export const neededFor =
  (what: string) =>
  (error: unknown): never => {
    throw isApiError(error, 'missing_scope') ? new CliError(EXIT.auth, `${error.message}. It is needed ${what}`) : error
  }

const EXIT_BY_STATUS: Record<number, ExitCode> = {
  400: EXIT.usage,
  401: EXIT.auth,
  402: EXIT.money,
  403: EXIT.auth,
  404: EXIT.notFound,
  409: EXIT.conflict,
  429: EXIT.rateLimited,
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode
  if (error instanceof ActionTimeoutError) return EXIT.timeout
  if (!(error instanceof ApiError)) return EXIT.failed
  return error.code === 'quota_exceeded' ? EXIT.money : (EXIT_BY_STATUS[error.status] ?? EXIT.failed)
}

export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) return `${withFlags(error.message)}${requestReference(error)}`
  if (error instanceof CliError || error instanceof BerthError) return error.message
  if (error instanceof TypeError || error instanceof ReferenceError) return error.stack ?? error.message // a bug: show where
  return error instanceof Error ? error.message : String(error)
}

/** Fields of the API whose flag has another name. */
const FLAGS = new Map([['publicIpv4', '--ipv6-only']])

/** How to do it here, by what the message begins with. */
const UNPROTECT: Record<string, string> = {
  VM: 'berth vm unprotect',
  'The volume': 'berth volume update <volume> --protect off',
  Image: 'berth image update <image> --protect off',
}

const withCommands = (message: string): string =>
  message.replace(
    /^(VM|The volume|Image)( .*: )set isProtected to false first$/,
    (_, what: string, why: string) => `${what}${why}${UNPROTECT[what]}`,
  )

const withFlags = (message: string): string =>
  withCommands(message)
    .replace(/\b\w+\b/g, (word) => FLAGS.get(word) ?? word)
    .replace(/\bwith disk (?=\d)/, 'with --disk ')

/** Some messages name the request themselves. */
const requestReference = ({ status, requestId, message }: ApiError): string =>
  status >= 500 && requestId && !message.includes(requestId) ? ` (request ${requestId})` : ''
