import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from './vms-database.ts'
import { fill } from './vms-fill.ts'
import type { Load } from './vms-load.ts'
import { startProgram } from './vms-process.ts'
import { printLimit } from './vms-table.ts'
import { bestStart, startUp, type Up } from './vms-up.ts'

const STARTS = 3
const LOAD_MS = 5_000
/** How long it takes until every reconciler has had its turn. */
const [SOON_MS, LATER_MS] = [6_000, 25_000]

export async function measureFirstStart(folder: string): Promise<void> {
  printLimit('first start ever', await bestStart([join(folder, 'first'), folder]), 4, 's')
}

/** Of the memory, about 48 MB is the supervisor that runs as root; without root there is none. */
export async function measureMemory(folder: string, stage: Stage): Promise<void> {
  const again = Array<string>(STARTS).fill(folder)
  printLimit('cold start', await bestStart(again), 1.2, 's')
  await measureUp(folder, stage, SOON_MS, { idle: 250, loaded: 450, what: '' })
  printLimit('cold start, 100,000 VMs', await bestStart(again), 1.2, 's')
  await measureUp(folder, stage, LATER_MS, { idle: 400, loaded: 540, what: ', 100,000 VMs' })
}

async function measureUp(
  folder: string,
  stage: Stage,
  restMs: number,
  { idle, loaded, what }: { idle: number; loaded: number; what: string },
): Promise<void> {
  const up = await startUp(folder)
  printLimit(`memory, idle${what}`, await most(up, sleep(restMs)), idle, 'MB')
  printLimit(`memory, loaded${what}`, await most(up, load(up, stage)), loaded, 'MB')
  await fill(up.url, stage)
  await up.stop()
}

async function most(up: Up, meanwhile: Promise<unknown>): Promise<number> {
  const samples = [up.memory()]
  const timer = setInterval(() => samples.push(up.memory()), 500)
  await meanwhile
  clearInterval(timer)
  return Math.max(...samples)
}

/** Long lists and creates at the same time. */
async function load(up: Up, { many, maker, body }: Stage): Promise<void> {
  const [reader, writer] = [await startProgram('vms-load.ts'), await startProgram('vms-load.ts')]
  const both = { port: up.port, ms: LOAD_MS }
  const path = '/api/public/v1/vms'
  await Promise.all([
    reader.ask({ ...both, token: many.token, method: 'GET', paths: [`${path}?limit=100`], connections: 16 } satisfies Load),
    writer.ask({ ...both, token: maker.token, method: 'POST', paths: [path], body, connections: 8 } satisfies Load),
  ])
  await Promise.all([reader.stop(), writer.stop()])
}
