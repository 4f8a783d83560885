// Several scheduler processes that can be killed and replaced while they work.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { TestApp } from '../harness.ts'
import { cleanEnvironment } from '../processes.ts'

interface Scheduler {
  child: ChildProcess
  dead: Promise<unknown>
  /** Resolves when everything due then is done, or the process is dead. */
  pass(time: string): Promise<void>
}

export interface Schedulers {
  pass(time: Date): Promise<void>
  stop(): Promise<void>
  /** The same, but one of them is killed as soon as `isUnderWay`. Another replaces it. */
  passWithDeath(time: Date, isUnderWay: () => Promise<boolean>): Promise<void>
}

export async function startSchedulers(app: TestApp, count: number): Promise<Schedulers> {
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_DATABASE_CONNECTIONS: '5' }
  const alive: Scheduler[] = []
  const start = async (): Promise<void> => void alive.push(await startOne(settings))
  await Promise.all(Array.from({ length: count }, start))
  const pass = async (time: Date): Promise<void> => void (await Promise.all(alive.map((each) => each.pass(time.toISOString()))))
  return {
    pass,
    async stop() {
      for (const { child } of alive) child.kill('SIGKILL')
      await Promise.all(alive.map(({ dead }) => dead))
    },
    async passWithDeath(time, isUnderWay) {
      let isOver = false
      const working = pass(time).then(() => void (isOver = true))
      while (!isOver && !(await isUnderWay()));
      const victim = alive.shift()!
      victim.child.kill('SIGKILL')
      await Promise.all([working, victim.dead])
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
    dead,
    async pass(time) {
      child.send(time)
      await Promise.race([once(child, 'message'), dead])
    },
  }
}
