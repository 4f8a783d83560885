// A role and a database in PostgreSQL of this machine, as Debian's package runs it.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { exists, writeFileAtomic } from '../../host-setup/shell.ts'
import { asUser, ENVIRONMENT, findUser, type OsUser } from '../../kernel/os-user.ts'
import { UsageError } from '../errors.ts'

const NAME = 'berth'

/** Returns its URL. `marker` says that both are ours: a purge of the package drops them, and a second attempt may set another password. */
export async function ensureLocalDatabase(marker: string, known: string | undefined): Promise<string> {
  const postgres = await findUser('postgres')
  if (!postgres) throw new UsageError('PostgreSQL is not installed on this machine: sudo apt install postgresql. Nothing was changed')
  const [port, role, database] = (await psql(postgres, STATE)).split('|') as [string, string, string]
  const isOurs = await exists(marker)
  if (known && isOurs && role === 't' && database === 't') return known
  if (!isOurs && (role === 't' || database === 't'))
    throw new UsageError(
      `PostgreSQL of this machine has a role or database ${NAME} that setup did not create: give its --database-url, or drop it. Nothing was changed`,
    )
  const password = randomBytes(24).toString('hex')
  await writeFileAtomic(marker, `${NAME}\n`)
  await psql(postgres, `${role === 't' ? 'alter' : 'create'} role ${NAME} login password '${password}'`)
  if (database !== 't') await psql(postgres, `create database ${NAME} owner ${NAME}`)
  return `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`
}

const STATE = `select current_setting('port'), exists (select from pg_roles where rolname = '${NAME}'), exists (select from pg_database where datname = '${NAME}')`

/** The statement goes by standard input: arguments are readable by everybody on the machine. */
function psql(user: OsUser, statement: string): Promise<string> {
  const options = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1', '--dbname=postgres']
  const [program, ...args] = [...asUser(user), 'psql', ...options] as [string, ...string[]]
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env: ENVIRONMENT, cwd: '/', timeout: 60_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`PostgreSQL of this machine: ${stderr.trim() || error.message}`))
      else resolve(stdout.trim())
    })
    child.stdin!.end(statement)
  })
}
