// The OS user of PostgreSQL. It does not run as root: root starts it as a system user, other users as themselves. A clone in a folder that
// only root may enter (/root) is not readable for that user; it then gets the capability to read there. PostgreSQL checks its own binaries
// with access(2).
import { stat } from 'node:fs/promises'
import { asUser, ensureSystemUser, run, type OsUser } from '../os-user.ts'

export const POSTGRES_USER = 'berth-postgres'

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

const systemUser = (): Promise<OsUser> =>
  ensureSystemUser(POSTGRES_USER).catch((error: Error) => {
    throw new Error(
      `PostgreSQL does not run as root, and ${error.message}. ` +
        `Create a system user of that name, start Berth as another user than root, or set BERTH_DATABASE_URL to your own PostgreSQL.`,
      { cause: error },
    )
  })

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

const prefixes = (account: OsUser): string[][] =>
  process.getuid!() === 0 ? [[], ['dac_read_search'], ['dac_override']].map((capabilities) => asUser(account, capabilities)) : [[]]
