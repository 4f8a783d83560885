// A sample workflow for tests of the engine: a house is settled in steps that can fail, and its remains can be inspected.
import { manualClock } from '../src/kernel/clock.ts'
import { openDb, sql, type Tx } from '../src/kernel/database/db.ts'
import { createLog } from '../src/kernel/log.ts'
import { createMetrics } from '../src/kernel/metrics.ts'
import { workflowsFor, type StartOptions } from '../src/workflow/workflow-builder.ts'
import { startEngine } from '../src/workflow/engine.ts'
import type { AnyWorkflow, Runner } from '../src/workflow/executor.ts'
import * as store from '../src/workflow/run-store.ts'
import { testDatabase } from './harness.ts'

/** What the steps change: a house is built on a plot, and a plot has one house. */
class SampleBackend {
  readonly plots = new Set<string>()
  readonly houses = new Set<string>()
  fault: (verb: string) => void = () => {}

  buy = async (id: string) => this.#do('buy', () => this.plots.add(id))
  sell = async (id: string) => this.#do('sell', () => this.plots.delete(id))
  build = async (id: string) => this.#do('build', () => this.houses.add(id))
  tearDown = async (id: string) => this.#do('tearDown', () => this.houses.delete(id))

  #do(verb: string, effect: () => unknown): void {
    this.fault(verb)
    effect()
  }
}

export interface Input {
  house: string
}

export const workflow = workflowsFor<SampleBackend>()

export const settle = workflow<Input>('house.settle', { deadline: '10m' })
  .step('buy', {
    run: async ({ deps, input }) => {
      await deps.buy(input.house)
      return { price: 12 }
    },
    undo: ({ deps, input }) => deps.sell(input.house),
  })
  .step('build', { run: ({ deps, input }) => deps.build(input.house), undo: ({ deps, input }) => deps.tearDown(input.house) })
  .step('register', { save: (tx, { input, results }) => write(tx, input.house, `owned for ${results.buy.price}`) })
  .onFailure((tx, { input, error }) => write(tx, input.house, `failed: ${error?.userMessage}`))

export const write = (tx: Tx, house: string, what: string) =>
  tx.run(
    sql`insert into houses (id, what) values (${house}, ${what}) on conflict (id) do update set what = ${what}, times = houses.times + 1`,
  )

export async function openSampleEngine() {
  const url = await testDatabase()
  const db = openDb({ url, maxConnections: 8, onError: () => {} })
  await db.raw('create table houses (id text primary key, what text not null, times integer not null default 1)')
  const clock = manualClock()
  const fixture = new SampleBackend()
  const deps = { db, clock, log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() }
  const engine = await startEngine(deps, { workflows: [settle], supervise: false })
  const queued: { runId: string; at: Date }[] = []
  const runner: Runner = {
    deps,
    stepDeps: fixture,
    workflows: new Map<string, AnyWorkflow>([[settle.name, settle]]),
    enqueue: async (_, { id: runId }, at) => void queued.push({ runId, at }),
    stopping: new AbortController().signal,
  }

  let houses = 0
  const start = (options: Partial<StartOptions> = {}, house = `house-${++houses}`): Promise<string> => {
    fixture.fault = () => {}
    return db.tx((tx) => engine.start(tx, settle, { house }, { label: 'SETTLE', ...options }))
  }
  const runOf = async (id: string): Promise<store.RunRow> => (await store.findRun(db, id))!
  const houseOf = async (run: store.RunRow) => {
    const { house } = run.input as Input
    return {
      plot: fixture.plots.has(house),
      built: fixture.houses.has(house),
      row: await db.maybe<{ what: string; times: number }>(sql`select what, times from houses where id = ${house}`),
    }
  }
  return { db, clock, fixture, deps, engine, queued, runner, start, runOf, houseOf }
}
