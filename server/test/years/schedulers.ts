// Several scheduler processes at once, which can be killed and replaced while they work.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll } from 'vitest'
import type { TestApp } from '../harness.ts'
import { cleanEnvironment } from '../processes.ts'

interface Scheduler {
  child: ChildProcess
  /** Answers once everything that is due then is done, or the process is dead. */
  pass(time: string): Promise<void>
}

export interface Schedulers {
  pass(time: Date): Promise<void>
  /** The same, and the first of them is killed in the middle of it. Another takes its place. */
  passWithDeath(time: Date): Promise<void>
}

export async function startSchedulers(app: TestApp, count: number): Promise<Schedulers> {
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_DATABASE_CONNECTIONS: '5' }
  const alive: Scheduler[] = []
  const start = async (): Promise<void> => void alive.push(await startOne(settings))
  await Promise.all(Array.from({ length: count }, start))
  afterAll(() => alive.forEach(({ child }) => child.kill('SIGKILL')))
  const pass = async (time: Date): Promise<void> => void (await Promise.all(alive.map((each) => each.pass(time.toISOString()))))
  return {
    pass,
    async passWithDeath(time) {
      const working = pass(time)
      const victim = alive.shift()!
      victim.child.kill('SIGKILL')
      await working
      if (victim.child.signalCode !== 'SIGKILL') throw new Error('The scheduler was not killed')
      await start()
    },
  }
}

async function startOne(settings: Record<string, string>): Promise<Scheduler> {
  const child = fork(new URL('./scheduler.ts', import.meta.url), { env: { ...cleanEnvironment(), ...settings }, execArgv: [] })
  const dead = once(child, 'exit')
  const [ready] = (await Promise.race([once(child, 'message'), dead])) as [unknown]
  if (ready !== 'ready') throw new Error('A scheduler did not start')
  return {
    child,
    async pass(time) {
      child.send(time)
      await Promise.race([once(child, 'message'), dead])
    },
  }
}
