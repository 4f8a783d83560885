// Which process supervises a cluster. A pid alone may by now be another program's, so the time at which the process started goes with it.
import { readFile, rm, writeFile } from 'node:fs/promises'

export async function isOwnerAlive(path: string): Promise<boolean> {
  const recorded = await readOwner(path)
  return recorded !== undefined && recorded === (await describeProcess(recorded.split(' ')[0]!))
}

export async function isOwnedByUs(path: string): Promise<boolean> {
  return (await readOwner(path)) === (await describeProcess('self'))
}

export async function takeOwnership(path: string): Promise<void> {
  await writeFile(path, (await describeProcess('self'))!)
}

export async function giveUpOwnership(path: string): Promise<void> {
  await rm(path, { force: true })
}

async function readOwner(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** "pid start", the start in clock ticks since boot; undefined for a process that is gone or a zombie. */
async function describeProcess(pid: string): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const [state, ...fields] = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? []
  return !line || state === 'Z' ? undefined : `${line.split(' ')[0]} ${fields[18]}`
}
