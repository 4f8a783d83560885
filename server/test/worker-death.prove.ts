import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCore, type Core } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { createLog } from '../src/kernel/log.ts'
import { findRun } from '../src/workflow/run-store.ts'
import { testDatabase } from './harness.ts'
import { eventually, service, type Service, type Settings } from './processes.ts'
import { slowWorkflow } from './slow-workflow.ts'

let settings: Settings
let core: Core

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-worker-'))
  settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: dataDir, BERTH_DRAIN_SECONDS: '1' }
  const log = createLog({ level: 'silent', pretty: false })
  core = await openCore(readConfig(settings), settings['BERTH_DATABASE_URL']!, log, { worker: false, workflows: [slowWorkflow] })
})
afterAll(async () => {
  await core.close()
  await rm(settings['BERTH_DATA_DIR']!, { recursive: true })
})

const slowWorker = (): Promise<Service> => service(settings, join(import.meta.dirname, 'slow-worker.ts'))

/** Starts a run with two workers; returns the one that claimed it and the other. */
async function begunRun(): Promise<{ runId: string; busy: Service; idle: Service }> {
  const workers = await Promise.all([slowWorker(), slowWorker()])
  const runId = await core.deps.db.tx((tx) => core.engine.start(tx, slowWorkflow, { name: 'one' }, { label: 'Slow' }))
  const busy = await eventually(async () => workers.find((worker) => worker.output().includes('begun')))
  return { runId, busy, idle: workers.find((worker) => worker !== busy)! }
}

const completed = (runId: string) => eventually(async () => (await findRun(core.deps.db, runId))?.status === 'COMPLETED', 60_000)

describe('a worker process', () => {
  test('that is killed within a step is replaced by another within 30 s', async () => {
    const { runId, busy, idle } = await begunRun()
    await busy.kill('SIGKILL')
    const elapsed = stopwatch()
    await completed(runId)
    expect(elapsed()).toBeLessThan(30_000)
    expect(idle.output()).toMatch(/"tries":2,"msg":"begun"/)
    expect(await idle.kill('SIGTERM')).toBe(0)
  })

  test('that is stopped releases its run, and another continues immediately', async () => {
    const { runId, busy, idle } = await begunRun()
    const elapsed = stopwatch()
    expect(await busy.kill('SIGTERM')).toBe(0)
    expect(elapsed()).toBeLessThan(6_000)
    await completed(runId)
    expect(elapsed()).toBeLessThan(10_000)
    await idle.kill('SIGTERM')
  })
})
