// JSON lines on stdout, readable lines on a terminal. What could be a secret is cut out by name before it is written.
import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { pino, type DestinationStream, type Logger } from 'pino'
import type PinoPretty from 'pino-pretty'
import { stopwatch } from './clock.ts'

export type Log = Logger

const SECRET_NAMES = ['password', 'token', 'secret', 'authorization', 'cookie', '["x-api-key"]', 'publicKey', 'masterKey']

export function createLog(options: { level: string; pretty: boolean }): Log {
  const paths = SECRET_NAMES.flatMap((name) =>
    name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`],
  )
  return pino({ level: options.level, base: null, redact: { paths, censor: '[redacted]' } }, options.pretty ? readableLines() : stdout())
}

const SWARM_MS = 10_000

/** For errors that come by the hundred while the database is away: one is written, those that follow within ten seconds are counted. */
export function rateLimitedWarn(log: Log, message: string): (error: unknown) => void {
  let sinceLast = (): number => Infinity
  let suppressed = 0
  return (error) => {
    if (sinceLast() < SWARM_MS) return void suppressed++
    log.warn({ err: error, ...(suppressed > 0 && { unwritten: suppressed }) }, message)
    sinceLast = stopwatch()
    suppressed = 0
  }
}

const STDOUT = 1
const stdout = (): DestinationStream => pino.destination({ dest: STDOUT, sync: true })

/** In this thread: pino's own way, a worker thread, costs a tenth of a second at every start and 15 MB. */
function readableLines(): DestinationStream {
  const require = createRequire(import.meta.url)
  const pretty = require('pino-pretty') as typeof PinoPretty
  return pretty({ colorize: isatty(STDOUT), translateTime: 'SYS:HH:MM:ss', ignore: 'reqId', sync: true, destination: STDOUT })
}
