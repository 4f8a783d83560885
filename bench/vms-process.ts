// Programs of a benchmark in processes of their own, and what Linux says of the time and memory that processes take.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Program {
  pid: number
  ask<Reply>(question: unknown): Promise<Reply>
  stop(): Promise<void>
}

/** Starts a file of this folder; it is ready when it sends its first message, and answers questions one at a time. */
export async function startProgram(file: string, ...args: string[]): Promise<Program> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const died = exited.then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)))
  died.catch(() => {}) // asked for below; after a stop it is of no interest
  await Promise.race([once(child, 'message'), died])
  return {
    pid: child.pid!,
    async ask<Reply>(question: unknown) {
      const answer = once(child, 'message')
      child.send(question as object)
      const [reply] = await Promise.race([answer, died])
      return reply as Reply
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** The other side: says that it is ready, and answers. */
export function answerParent(answer: (question: never) => Promise<unknown>): void {
  process.on('message', (question) => void answer(question as never).then((reply) => process.send!(reply)))
  process.on('disconnect', () => process.exit())
  process.send!('ready')
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended meanwhile
  }
}

export function childrenOf(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return all.filter((each) => read(`/proc/${each}/stat`).split(') ')[1]?.split(' ')[1] === String(pid)).map(Number)
}

/** Processor time of all threads, in microseconds. */
export function cpuOf(pid: number): number {
  let tasks: string[] = []
  try {
    tasks = readdirSync(`/proc/${pid}/task`)
  } catch {} // it has ended meanwhile
  return tasks.reduce((sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0] || 0) / 1000, 0)
}

/** Starts to count the processor time of these and of the children they have at the end; answers microseconds. */
export function cpuWatch(pids: number[], parent: number): () => number {
  const look = (): Map<number, number> => new Map([...pids, ...childrenOf(parent)].map((pid) => [pid, cpuOf(pid)]))
  const before = look()
  return () => [...look()].reduce((sum, [pid, now]) => sum + now - (before.get(pid) ?? 0), 0)
}

/** Memory in MB, what is shared divided among those who share it. */
export const memoryOf = (pids: number[]): number =>
  pids.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0), 0) / 1000
