// JSON lines on stdout, readable lines on a terminal. What could be a secret is cut out by name before it is written.
import { pino, type Logger } from 'pino'

export type Log = Logger

const SECRET_NAMES = ['password', 'token', 'secret', 'authorization', 'cookie', '["x-api-key"]', 'publicKey', 'masterKey']

export function createLog(options: { level: string; pretty: boolean }): Log {
  const paths = SECRET_NAMES.flatMap((name) =>
    name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`],
  )
  return pino({
    level: options.level,
    base: null,
    redact: { paths, censor: '[redacted]' },
    ...(options.pretty && { transport: { target: 'pino-pretty', options: { translateTime: 'SYS:HH:MM:ss', ignore: 'reqId' } } }),
  })
}
