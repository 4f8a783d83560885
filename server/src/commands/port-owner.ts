// Finds the program that listens on a local TCP port. Needs root, or the same user as the program.
import { readdir, readFile, readlink } from 'node:fs/promises'

export interface Holder {
  pid: number
  name: string
}

export async function findPortHolder(port: number): Promise<Holder | undefined> {
  const sockets = new Set((await Promise.all(['tcp', 'tcp6'].map((table) => listening(table, port)))).flat())
  if (sockets.size === 0) return undefined
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) if (await holdsOne(pid, sockets)) return { pid: Number(pid), name: await nameOf(pid) }
  return undefined
}

const LISTEN = '0A'

/** The inodes of the sockets listening on that port. */
async function listening(table: string, port: number): Promise<string[]> {
  const lines = (await readFile(`/proc/net/${table}`, 'utf8').catch(() => '')).split('\n').slice(1)
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTEN)
    .map((fields) => `socket:[${fields[9]}]`)
}

async function holdsOne(pid: string, sockets: Set<string>): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const targets = await Promise.all(descriptors.map((each) => readlink(`/proc/${pid}/fd/${each}`).catch(() => '')))
  return targets.some((target) => sockets.has(target))
}

const nameOf = async (pid: string): Promise<string> => (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a program')).trim()
