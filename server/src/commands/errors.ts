// Error output of commands: one message for what the operator can fix, a stack trace only for bugs.
import { ApiError } from '../kernel/errors.ts'
import { printable, toJson } from './output.ts'

/** The command was called with wrong options or arguments. */
export class UsageError extends Error {}

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof ApiError) {
    const advice = NOT_FOUND[error.message]
    if (advice) return `${error.message}: ${advice}`
    return error.message.replace(/^Validation failed: /, '').replace(/^[a-z]/, (letter) => letter.toUpperCase())
  }
  if (isForbidden(error))
    return `This user may not open ${error.path}. With sudo berthd that is user berth: name a file in a folder of its own, such as /var/lib/berth`
  const database = explainDatabase(error)
  if (database) return database
  return isBug(error) ? (error.stack ?? error.message) : error.message
}

const NOT_FOUND: Record<string, string> = {
  'VM not found': 'give its id, as names may repeat; npx berthd vm list shows them',
  'Host not found': 'npx berthd host list shows them',
  'Maintenance not found': 'npx berthd maintenance list shows them',
  'Region not found': 'npx berthd region list shows them',
}

/** Through the wrappers commands run as the user of the service, not as who calls them. */
const isForbidden = (error: NodeJS.ErrnoException): error is NodeJS.ErrnoException & { path: string } =>
  error.code === 'EACCES' && error.syscall === 'open' && error.path !== undefined

const isBug = (error: Error): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError || error.message.startsWith('BUG')

const DATABASE_ERRORS: [RegExp, string][] = [
  [/^57P0[123]$/, 'The database was shut down while the command ran; nothing was changed. Retry the command'],
  [/^28/, 'The database rejected the user or password: check BERTH_DATABASE_URL'],
  [/^3D000$/, 'That database does not exist: create it, or check BERTH_DATABASE_URL'],
  [/^42501$/, 'Permission denied: the database user must own the database of BERTH_DATABASE_URL'],
  [/^53300$/, 'The database is out of connections: raise its max_connections, or lower BERTH_DATABASE_CONNECTIONS'],
  [/^(connect|getaddrinfo|read) /, 'The database cannot be reached: check that it runs, and BERTH_DATABASE_URL'],
]

function explainDatabase(error: Error & { code?: unknown; syscall?: string }): string | undefined {
  if (error instanceof AggregateError) return explainDatabase(error.errors[0] as Error) // one error per address tried
  if (typeof error.code !== 'string') return undefined
  const code = error.syscall ? `${error.syscall} ${error.code}` : error.code
  const message = DATABASE_ERRORS.find(([pattern]) => pattern.test(code))?.[1]
  return message && `${message} (${error.message})`
}

export const asError = (message: string, json: boolean): string => `${printable(json ? toJson({ error: message }) : message)}\n`
