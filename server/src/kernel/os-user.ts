// System users, and how root runs a program as one of them.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs what talks to the network, where root starts it. */
export const SERVICE_USER = 'berth'

/** A clean environment: PGPORT or PGDATA would misconfigure PostgreSQL, and our secrets must not leak. */
export const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }

export async function run(command: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command[0]!, command.slice(1), { env: ENVIRONMENT, cwd: '/' })
  return stdout.trim()
}

export interface OsUser {
  uid: number
  gid: number
}

/** Created when missing; needs root. */
export async function ensureSystemUser(name: string): Promise<OsUser> {
  const known = await findUser(name)
  if (known) return known
  const failure = await run(['flock', '--timeout', '30', '/etc', 'sh', '-c', CREATE_MISSING, name]).catch((error: Error) => error.message)
  const made = await findUser(name)
  if (made) return made
  throw new Error(`creating the system user ${name} failed (${failure.trim().split('\n').at(-1)})`)
}

/** Under a lock, because the second of two concurrent `useradd` replaces the user of the first by one with another uid. */
const CREATE_MISSING =
  'id "$0" >/dev/null 2>&1 || exec useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$0"'

export async function findUser(name: string): Promise<OsUser | undefined> {
  const ask = async (flag: string): Promise<number> => Number(await run(['id', flag, name]))
  const [uid, gid] = await Promise.all([ask('-u'), ask('-g')]).catch(() => [])
  return uid === undefined || gid === undefined ? undefined : { uid, gid }
}

/** The prefix of a command that root runs as that user, in no other group. `no_setuid_fixup` makes access(2) honour the capabilities. */
export function asUser({ uid, gid }: OsUser, capabilities: string[] = []): string[] {
  const plain = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  if (capabilities.length === 0) return plain
  const list = capabilities.map((name) => `+${name}`).join(',')
  return [...plain, '--securebits=+no_setuid_fixup', `--inh-caps=${list}`, `--ambient-caps=${list}`]
}
