// The OS user of PostgreSQL. It does not run as root: root starts it as a system user, other users as themselves. A clone in a folder that
// only root may enter (/root) is not readable for that user; it then gets the capability to read there. `no_setuid_fixup` makes access(2)
// honour that capability, because PostgreSQL checks its own binaries with access(2).
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const USER = 'berth-postgres'

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

export interface Launcher extends OsUser {
  /** Prefix of a PostgreSQL command. */
  prefix: string[]
  /** Version of the binaries, for example 18.4. */
  version: string
}

/** The owner of an existing cluster; otherwise ourselves, or the system user when we are root. */
export async function chooseOsUser(cluster: string): Promise<OsUser> {
  const own = { uid: process.getuid!(), gid: process.getgid!() }
  const owner = await stat(cluster).catch(() => undefined)
  if (own.uid !== 0) {
    if (!owner || owner.uid === own.uid) return own
    throw new Error(`The database in ${cluster} belongs to user ${owner.uid}, not to ${own.uid}. Start Berth as that user or as root.`)
  }
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : systemUser()
}

async function systemUser(): Promise<OsUser> {
  const known = await lookUp().catch(() => undefined)
  if (known) return known
  const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin']
  const failure = await run(['useradd', ...options, USER]).catch((error: Error) => error.message)
  // useradd also fails when a concurrent process created the user, so the lookup decides.
  return lookUp().catch(() => {
    throw new Error(
      `PostgreSQL does not run as root, and creating the system user ${USER} failed (${failure.trim()}). ` +
        `Create a system user of that name, start Berth as another user than root, or set BERTH_DATABASE_URL to your own PostgreSQL.`,
    )
  })
}

async function lookUp(): Promise<OsUser> {
  const ask = async (flag: string): Promise<number> => Number(await run(['id', flag, USER]))
  return { uid: await ask('-u'), gid: await ask('-g') }
}

/** The least privileged way in which that user can run `postgres` and enter `dataDir`. */
export async function findLauncher(account: OsUser, postgres: string, dataDir: string): Promise<Launcher> {
  const failures: string[] = []
  for (const prefix of prefixes(account)) {
    try {
      const answer = await run([...prefix, 'sh', '-c', '"$0" --version && cd "$1"', postgres, dataDir])
      return { ...account, prefix, version: answer.split(' ').at(-1)! }
    } catch (error) {
      failures.push((error as Error).message.trim())
    }
  }
  throw new Error(
    `User ${account.uid} cannot run ${postgres} or cannot enter ${dataDir}. Move Berth to a folder that others may enter, such as /opt/berth, ` +
      `or set BERTH_DATABASE_URL to your own PostgreSQL. The last error was: ${failures.at(-1)}`,
  )
}

function prefixes({ uid, gid }: OsUser): string[][] {
  if (process.getuid!() !== 0) return [[]]
  const plain = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const able = (name: string): string[] => [...plain, '--securebits=+no_setuid_fixup', `--inh-caps=+${name}`, `--ambient-caps=+${name}`]
  return [plain, able('dac_read_search'), able('dac_override')]
}
