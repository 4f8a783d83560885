// As whom PostgreSQL runs. It refuses to be root; so root starts it as a system user, everybody else as themselves.
// A clone below a folder that only root may enter (/root) is out of that user's reach. Then it gets, and keeps, the one capability that lets
// it read there. `no_setuid_fixup` makes access(2) count that capability too: PostgreSQL asks access(2) whether its own files can be run.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const USER = 'berth-postgres'

/** Nothing of our own environment: a PGPORT or PGDATA in it would lead PostgreSQL astray, and our secrets are not its business. */
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
  /** Put in front of a PostgreSQL command. */
  prefix: string[]
  /** Of the programs, for example 18.4. */
  version: string
}

/** The owner of a cluster that exists; otherwise ourselves, or the system user when we are root. */
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
  // useradd also fails when another process has just made the user, so what counts is whether it is there now.
  return lookUp().catch(() => {
    throw new Error(
      `PostgreSQL refuses to run as root, and the system user ${USER} could not be made (${failure.trim()}). ` +
        `Make a system user of that name, start Berth as another user than root, or set BERTH_DATABASE_URL to your own PostgreSQL.`,
    )
  })
}

async function lookUp(): Promise<OsUser> {
  const ask = async (flag: string): Promise<number> => Number(await run(['id', flag, USER]))
  return { uid: await ask('-u'), gid: await ask('-g') }
}

/** The way with the fewest privileges in which that account can run `postgres` and enter `dataDir`. */
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
      `or set BERTH_DATABASE_URL to your own PostgreSQL. The last attempt said: ${failures.at(-1)}`,
  )
}

function prefixes({ uid, gid }: OsUser): string[][] {
  if (process.getuid!() !== 0) return [[]]
  const plain = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const able = (name: string): string[] => [...plain, '--securebits=+no_setuid_fixup', `--inh-caps=+${name}`, `--ambient-caps=+${name}`]
  return [plain, able('dac_read_search'), able('dac_override')]
}
