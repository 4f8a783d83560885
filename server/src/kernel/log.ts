// JSON lines on stdout, readable lines on a terminal. Fields with secret names are redacted.
import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { pino, type DestinationStream, type Logger } from 'pino'
import type PinoPretty from 'pino-pretty'
import { stopwatch } from './clock.ts'
import { ApiError } from './errors.ts'

export type Log = Logger

const SECRET_NAMES = ['password', 'token', 'secret', 'authorization', 'cookie', '["x-api-key"]', 'publicKey', 'masterKey']

export function createLog(options: { level: string; pretty: boolean; to?: Writable }): Log {
  const paths = SECRET_NAMES.flatMap((name) =>
    name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`],
  )
  const settings = { level: options.level, base: null, redact: { paths, censor: '[redacted]' } }
  if (!options.pretty) return pino(settings, options.to ?? stdout())
  return pino({ ...settings, formatters: { log: withoutExpectedStacks } }, readableLines(options.to))
}

const QUIET_MS = 10_000

/** For bursts of errors while the database is unavailable: the first is logged, those within ten seconds are counted. */
export function rateLimitedWarn(log: Log, message: string): (error: unknown) => void {
  let sinceLast = (): number => Infinity
  let suppressed = 0
  return (error) => {
    if (sinceLast() < QUIET_MS) return void suppressed++
    log.warn({ err: error, ...(suppressed > 0 && { suppressed }) }, message)
    sinceLast = stopwatch()
    suppressed = 0
  }
}

const STDOUT = 1
const stdout = (): DestinationStream => pino.destination({ dest: STDOUT, sync: true })

/** Runs in this thread: pino's transport thread costs 0.1 s at every start and 15 MB. */
function readableLines(to: Writable | undefined): DestinationStream {
  const require = createRequire(import.meta.url)
  const pretty = require('pino-pretty') as typeof PinoPretty
  const lines = pretty({
    colorize: isatty(STDOUT),
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'reqId,requestId,actor',
    singleLine: true,
    sync: true,
    destination: to ?? STDOUT,
  })
  return { write: (line) => void lines.write(printableJson(line)) }
}

/** Replaces control and bidirectional characters in a line of JSON, as commands do in what they print: text of customers and guests must
 *  not move the operator's cursor or fake a line. pino-pretty prints messages and stacks unescaped, so escapes count too; `\n` and `\t` stay. */
const printableJson = (line: string): string =>
  line.replace(/(\\u00[01][0-9a-f]|\\[bfr]|[\x7f-\x9f\p{Bidi_Control}\u2028\u2029])|\\./gu, (found, control?: string) =>
    control === undefined ? found : '\ufffd',
  )

/** An expected error (an API error, or a driver error with a user message) is logged as a reason on a terminal, without a stack. */
function withoutExpectedStacks({ err, ...fields }: Record<string, unknown>): Record<string, unknown> {
  if (!(err instanceof ApiError) && typeof (err as { userMessage?: unknown } | undefined)?.userMessage !== 'string')
    return err === undefined ? fields : { ...fields, err }
  return { ...fields, reason: (err as Error).message }
}
