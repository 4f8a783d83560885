// Which process supervises a cluster, and which borrow it. Pids are recorded with the start time of their process, because a pid can be
// reused.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The recorded pid, when its process is still alive. */
export async function findOwner(path: string): Promise<number | undefined> {
  const recorded = await readOwner(path)
  const pid = recorded?.split(' ')[0]
  return pid && recorded === (await describeProcess(pid)) ? Number(pid) : undefined
}

export async function isOwnedByUs(path: string): Promise<boolean> {
  return (await readOwner(path)) === (await describeProcess('self'))
}

export async function takeOwnership(path: string): Promise<void> {
  await writeFile(path, (await describeProcess('self'))!)
}

export async function releaseOwnership(path: string): Promise<void> {
  await rm(path, { force: true })
}

/** Returns the entry for unregisterBorrower. */
export async function registerBorrower(folder: string): Promise<string> {
  const path = join(folder, randomBytes(6).toString('hex'))
  await mkdir(folder, { recursive: true })
  await takeOwnership(path)
  return path
}

/** Returns whether it was the last one alive. */
export async function unregisterBorrower(folder: string, path: string): Promise<boolean> {
  await releaseOwnership(path)
  let last = true
  for (const name of await readdir(folder)) {
    if (await findOwner(join(folder, name))) last = false
    else await rm(join(folder, name), { force: true }) // its process was killed
  }
  return last
}

async function readOwner(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** "pid start", with the start in clock ticks since boot; undefined for a dead or zombie process. */
async function describeProcess(pid: string): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The second field is the program name in parentheses, which may itself contain spaces and parentheses.
  const [state, ...fields] = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? []
  return !line || state === 'Z' ? undefined : `${line.split(' ')[0]} ${fields[18]}`
}
