// The real `berthd up` with its own PostgreSQL: how soon it serves, and how much memory all of it takes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { borrowEmbeddedPostgres } from '../server/src/kernel/postgres/embedded.ts'
import { findPostmaster } from '../server/src/kernel/postgres/postmaster.ts'
import { allowTestStatements } from '../server/test/allow-test-statements.ts'
import { childrenOf, memoryOf } from './vms-process.ts'

const BERTHD = join(import.meta.dirname, '../server/bin/berthd.mjs')
const PORT = 20_000 + (process.pid % 10_000)

export interface Up {
  port: number
  /** From the start of the process to the first 200 of /readyz. */
  seconds: number
  /** Of its database. */
  url: string
  /** In MB: API, worker and PostgreSQL. */
  memory(): number
  stop(): Promise<void>
}

export async function startUp(dataDir: string): Promise<Up> {
  const begun = performance.now()
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`
  const settings = { BERTH_DATA_DIR: dataDir, BERTH_PORT: String(PORT), BERTH_METRICS_PORT: '0', BERTH_HYPERVISOR: 'simulated' }
  const child = spawn(BERTHD, ['up'], { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH, ...settings } })
  const exited = once(child, 'exit')
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`berthd up ended with ${child.exitCode}`)
    await sleep(10)
  }
  const seconds = (performance.now() - begun) / 1000
  const folder = join(dataDir, 'postgres')
  const { pid } = (await findPostmaster(join(folder, 'cluster')))!
  const { url, superuserUrl, stop: giveBack } = await borrowEmbeddedPostgres({ dataDir: folder })
  await allowTestStatements({ url, superuserUrl })
  await giveBack() // it goes on: the process above supervises it
  return {
    port: PORT,
    seconds,
    url,
    memory: () => memoryOf([...new Set([child.pid!, ...childrenOf(child.pid!), pid, ...childrenOf(pid)])]),
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** What others do on the machine only adds to it, so the best of several counts. */
export async function bestStart(folders: string[]): Promise<number> {
  let best = Infinity
  for (const folder of folders) {
    const up = await startUp(folder)
    best = Math.min(best, up.seconds)
    await up.stop()
  }
  return best
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${PORT}/readyz`)).ok
  } catch {
    return false // not yet
  }
}
