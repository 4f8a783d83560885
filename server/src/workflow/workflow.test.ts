import { describe, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import { manualClock } from '../kernel/clock.ts'
import { openDb, sql, type Tx } from '../kernel/db.ts'
import { createLog } from '../kernel/log.ts'
import { createMetrics } from '../kernel/metrics.ts'
import { StepError, workflowsFor, type StartOptions } from './define.ts'
import { startEngine } from './engine.ts'
import { carryOn, type AnyWorkflow, type Runner } from './run.ts'
import * as store from './store.ts'
import { proveDurable } from './testing.ts'

/** What the steps work on: a house is built on a plot, and a plot can hold only one. */
class World {
  readonly plots = new Set<string>()
  readonly houses = new Set<string>()
  trouble: (verb: string) => void = () => {}

  buy = async (id: string) => this.#do('buy', () => this.plots.add(id))
  sell = async (id: string) => this.#do('sell', () => this.plots.delete(id))
  build = async (id: string) => this.#do('build', () => this.houses.add(id))
  tearDown = async (id: string) => this.#do('tearDown', () => this.houses.delete(id))

  #do(verb: string, effect: () => unknown): void {
    this.trouble(verb)
    effect()
  }
}

interface Input {
  house: string
}

const workflow = workflowsFor<World>()

const settle = workflow<Input>('house.settle', { deadline: '10m' })
  .step('buy', {
    run: async ({ deps, input }) => {
      await deps.buy(input.house)
      return { price: 12 }
    },
    undo: ({ deps, input }) => deps.sell(input.house),
  })
  .step('build', { run: ({ deps, input }) => deps.build(input.house), undo: ({ deps, input }) => deps.tearDown(input.house) })
  .step('register', { save: (tx, { input, results }) => write(tx, input.house, `owned for ${results.buy.price}`) })
  .onFailure((tx, { input, error }) => write(tx, input.house, `failed: ${error?.sentence}`))

const write = (tx: Tx, house: string, what: string) =>
  tx.run(
    sql`insert into houses (id, what) values (${house}, ${what}) on conflict (id) do update set what = ${what}, times = houses.times + 1`,
  )

describe('durable work', async () => {
  const url = await testDatabase()
  const db = openDb({ url, maxConnections: 8, onError: () => {} })
  await db.raw('create table houses (id text primary key, what text not null, times integer not null default 1)')
  const clock = manualClock()
  const world = new World()
  const deps = { db, clock, log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() }
  const engine = await startEngine(deps, { workflows: [settle], supervise: false })
  const queued: { runId: string; at: Date }[] = []
  const runner: Runner = {
    deps,
    stepDeps: world,
    workflows: new Map<string, AnyWorkflow>([[settle.name, settle]]),
    enqueue: async (_, runId, at) => void queued.push({ runId, at }),
    stopping: new AbortController().signal,
  }

  let houses = 0
  const start = (options: Partial<StartOptions> = {}, house = `house-${++houses}`): Promise<string> => {
    world.trouble = () => {}
    return db.tx((tx) => engine.start(tx, settle, { house }, { label: 'SETTLE', ...options }))
  }
  const runOf = async (id: string): Promise<store.RunRow> => (await store.findRun(db, id))!
  const houseOf = async (run: store.RunRow) => {
    const { house } = run.input as Input
    return {
      plot: world.plots.has(house),
      built: world.houses.has(house),
      row: await db.maybe<{ what: string; times: number }>(sql`select what, times from houses where id = ${house}`),
    }
  }

  test('completes, with each save exactly once, however often and wherever the worker dies', async () => {
    const trials = await proveDurable({
      db,
      clock,
      runner,
      workflow: settle,
      start,
      completed: async (run) => {
        expect(run).toMatchObject({ status: 'COMPLETED', progress: 100, error: null })
        expect(await houseOf(run)).toEqual({ plot: true, built: true, row: { what: 'owned for 12', times: 1 } })
      },
      failed: async (run) => {
        expect(run).toMatchObject({ status: 'FAILED', error: 'Failed on purpose', error_code: 'planted' })
        expect(await houseOf(run)).toEqual({ plot: false, built: false, row: { what: 'failed: Failed on purpose', times: 1 } })
      },
    })
    expect(trials.length).toBeGreaterThan(40)
  })

  test('finds a workflow whose undo forgets something', async () => {
    const { name, deadlineMs, success, failure } = settle
    const careless = { name, deadlineMs, success, failure, steps: settle.steps.map(({ undo: _, ...step }) => step) } as AnyWorkflow
    const proof = proveDurable({
      db,
      clock,
      runner,
      workflow: careless,
      start,
      completed: async () => {},
      failed: async (run) => expect((await houseOf(run)).plot).toBe(false),
    })
    await expect(proof).rejects.toThrow('house.settle')
  })

  test('tries a step again after a growing pause when a retry can help', async () => {
    const id = await start()
    let failures = 2
    world.trouble = (verb) => {
      if (verb === 'build' && failures-- > 0) throw new StepError('host', 'The host did not answer', { retry: true })
    }
    queued.length = 0
    for (let i = 0; i < 3; i++) {
      await carryOn(runner, id)
      clock.advance('5s')
    }
    expect(await runOf(id)).toMatchObject({ status: 'COMPLETED', attempt: 3 })
    expect(queued.map(({ at }) => at.getTime() - (clock.now().getTime() - 15_000))).toEqual([1_000, 7_000])
  })

  test('undoes everything once its tries are used up', async () => {
    const id = await start()
    world.trouble = (verb) => {
      if (verb === 'build') throw new StepError('host', 'The host did not answer', { retry: true })
    }
    for (let i = 0; i < 5; i++) {
      await carryOn(runner, id)
      clock.advance('31s')
    }
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'FAILED', error: 'The host did not answer', error_code: 'host' })
    expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
    expect((await store.stepsOf(db, [id])).map((step) => step.status)).toEqual(['UNDONE', 'UNDONE', 'PENDING'])
  })

  test('tells a customer nothing of a bug but that support knows', async () => {
    const id = await start()
    world.trouble = (verb) => {
      if (verb === 'buy') throw new Error('secret detail')
    }
    for (let i = 0; i < 5; i++) {
      await carryOn(runner, id)
      clock.advance('31s')
    }
    expect(await runOf(id)).toMatchObject({ status: 'FAILED', error: 'Something went wrong on our side. Support has been told' })
  })

  test('fails at its deadline and takes back what it did', async () => {
    const id = await start()
    world.trouble = (verb) => {
      if (verb === 'build') throw new StepError('host', 'The host did not answer', { retry: true })
    }
    await carryOn(runner, id)
    clock.advance('10m')
    await carryOn(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'FAILED', error_code: 'deadline' })
  })

  test('tells the operator when undoing does not work, and still settles the database', async () => {
    const id = await start()
    world.trouble = (verb) => {
      if (verb !== 'buy') throw new StepError('host', 'The host is gone', { retry: false })
    }
    await carryOn(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', unwinding: true })
    clock.advance('21m')
    await carryOn(runner, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'FAILED', stranded: true })
    expect((await houseOf(run)).row).toMatchObject({ what: 'failed: The host is gone' })
  })

  test('completes although tidying up does not work, however late it is', async () => {
    const tidy = workflow<Input>('house.tidy', { deadline: '10m' })
      .step('build', { run: ({ deps, input }) => deps.build(input.house) })
      .step('sweep', { run: ({ deps, input }) => deps.sell(input.house), optional: true })
      .onSuccess((tx, { input }) => write(tx, input.house, 'tidy'))
    const withTidy: Runner = { ...runner, workflows: new Map<string, AnyWorkflow>([[tidy.name, tidy]]) }
    const begin = (house: string) =>
      db.tx(async (tx) => {
        const run = { id: house, name: tidy.name, label: 'TIDY', ownerId: null, subjectId: null, input: { house }, now: clock.now() }
        await store.insertRun(tx, { ...run, deadlineAt: new Date(clock.now().getTime() + 600_000), steps: ['build', 'sweep'] })
      })
    world.trouble = (verb) => {
      if (verb === 'sell') throw new StepError('host', 'No broom', { retry: false })
    }
    await begin('untidy')
    await carryOn(withTidy, 'untidy')
    expect(await runOf('untidy')).toMatchObject({ status: 'COMPLETED', error: null })
    expect((await store.stepsOf(db, ['untidy'])).map((step) => step.status)).toEqual(['COMPLETED', 'FAILED'])

    world.trouble = (verb) => {
      if (verb === 'sell') throw new StepError('host', 'No broom yet', { retry: true })
    }
    await begin('late')
    await carryOn(withTidy, 'late')
    expect(await runOf('late')).toMatchObject({ status: 'RUNNING' })
    clock.advance('11m')
    await carryOn(withTidy, 'late')
    expect(await runOf('late')).toMatchObject({ status: 'COMPLETED', error: null })
  })

  test('refuses the write of a worker that was taken over', async () => {
    const id = await start()
    let takeOver: Promise<void> | undefined
    const slow: Runner = {
      ...runner,
      checkpoint: (where) => {
        if (where !== 'build run' || takeOver) return
        clock.advance('16s') // its lease has run out without its noticing
        takeOver = carryOn(runner, id)
      },
    }
    await carryOn(slow, id)
    await takeOver
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    expect((await houseOf(run)).row).toEqual({ what: 'owned for 12', times: 1 })
  })

  test('leaves a run alone while its worker lives', async () => {
    const id = await start()
    await db.run(sql`update workflow_runs set lease_until = ${new Date(clock.now().getTime() + 1000)}, status = 'RUNNING' where id = ${id}`)
    await carryOn(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', attempt: 0 })
  })

  test('allows one open run per subject', async () => {
    await start({ subjectId: 'plot-7' })
    await expect(start({ subjectId: 'plot-7' })).rejects.toMatchObject({ code: 'busy' })
  })

  test('cancels at once for its owner and undoes behind it', async () => {
    const id = await start({ subjectId: 'plot-8' })
    let cancelled: Promise<boolean> | undefined
    const interrupted: Runner = {
      ...runner,
      checkpoint: (where) => {
        if (where === 'buy saved') cancelled = db.tx((tx) => engine.cancel(tx, id, 'Made way for something more urgent'))
      },
    }
    world.trouble = (verb) => {
      if (verb === 'build') throw new StepError('host', 'Try again', { retry: true })
    }
    await carryOn(interrupted, id)
    expect(await cancelled).toBe(true)
    expect(await runOf(id)).toMatchObject({ status: 'CANCELLED', unwinding: true })
    await expect(start({ subjectId: 'plot-8' })).resolves.toBeTypeOf('string')
    await carryOn(runner, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'CANCELLED', unwinding: false, error: 'Made way for something more urgent' })
    expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
  })

  test('starts nothing when the transaction it was started in rolls back', async () => {
    let id = ''
    const failing = db.tx(async (tx) => {
      id = await engine.start(tx, settle, { house: 'never' }, { label: 'SETTLE' })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await store.findRun(db, id)).toBeUndefined()
    expect((await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows).toEqual([])
  })

  test('takes up a run soon whose job died with a worker before it was begun, as long as there is room', async () => {
    const other = await startEngine(deps, { workflows: [settle], supervise: false })
    const id = await start()
    await db.raw(`delete from pgboss.job where data ->> 'runId' = '${id}'`)
    clock.advance('11s')
    const jobs = async () => (await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows.length
    await engine.rescue() // which carries out nothing, and so cannot tell
    expect(await jobs()).toBe(0)
    await other.work(world, 1)
    await other.rescue()
    await expect.poll(async () => (await runOf(id)).status).toBe('COMPLETED')
    await other.drain(AbortSignal.timeout(5_000))
    await other.stop()
  })

  test('queues a run again when its worker has died', async () => {
    const id = await start()
    await db.raw(`delete from pgboss.job where data ->> 'runId' = '${id}'`)
    await db.run(
      sql`update workflow_runs set lease_until = ${new Date(clock.now().getTime() + 14_000)}, status = 'RUNNING' where id = ${id}`,
    )
    const jobs = async () => (await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows.length
    await engine.rescue()
    expect(await jobs()).toBe(0)
    clock.advance('15s')
    await engine.rescue()
    expect(await jobs()).toBe(1)
  })
})
