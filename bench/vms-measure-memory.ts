import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from './vms-database.ts'
import { fill } from './vms-fill.ts'
import type { Load } from './vms-load.ts'
import { startProgram } from './vms-process.ts'
import { printLimit, printRatio } from './vms-table.ts'
import { startUp, type Up } from './vms-up.ts'

const SETTLE_MS = 5_000
const LOAD_MS = 5_000

export async function measureFirstStart(folder: string): Promise<void> {
  const up = await startUp(folder)
  printLimit('first start ever', up.seconds, 4, 's')
  await up.stop()
}

export async function measureMemory(folder: string, stage: Stage): Promise<void> {
  const small = await startUp(folder)
  printLimit('cold start', small.seconds, 1.2, 's')
  const [idle, loaded] = [await atRest(small), await underLoad(small, stage)]
  printLimit('memory, idle', idle, 250, 'MB')
  printLimit('memory, loaded', loaded, 450, 'MB')
  await fill(small.url, stage)
  await small.stop()

  const large = await startUp(folder)
  printLimit('cold start, 100,000 VMs', large.seconds, 1.2, 's')
  printRatio('memory, idle, 100,000 VMs', { ours: [await atRest(large)], floor: [idle], unit: 'MB' }, { most: 1.2 })
  printRatio('memory, loaded, 100,000 VMs', { ours: [await underLoad(large, stage)], floor: [loaded], unit: 'MB' }, { most: 1.2 })
  await large.stop()
}

async function atRest(up: Up): Promise<number> {
  await sleep(SETTLE_MS)
  return up.memory()
}

/** Long lists and creates at the same time; the most memory meanwhile. */
async function underLoad(up: Up, { many, maker, body }: Stage): Promise<number> {
  const [reader, writer] = [await startProgram('vms-load.ts'), await startProgram('vms-load.ts')]
  const load = { port: up.port, ms: LOAD_MS }
  const path = '/api/public/v1/vms'
  const samples: number[] = []
  const timer = setInterval(() => samples.push(up.memory()), 500)
  await Promise.all([
    reader.ask({ ...load, token: many.token, method: 'GET', paths: [`${path}?limit=100`], connections: 16 } satisfies Load),
    writer.ask({ ...load, token: maker.token, method: 'POST', paths: [path], body, connections: 8 } satisfies Load),
  ])
  clearInterval(timer)
  await Promise.all([reader.stop(), writer.stop()])
  return Math.max(...samples)
}
