import { describe, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import { systemClock } from '../kernel/clock.ts'
import { openDb } from '../kernel/database/db.ts'
import { createLog } from '../kernel/log.ts'
import { createMetrics } from '../kernel/metrics.ts'
import { type QueueName, workflowsFor } from './workflow-builder.ts'
import { startEngine } from './engine.ts'
import * as store from './run-store.ts'

describe('a worker', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 8, onError: () => {} })
  const deps = { db, clock: systemClock, log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() }
  /** Resolvers of the blocked steps. */
  const held: (() => void)[] = []
  const holdIn = (queue: QueueName) =>
    workflowsFor()<object>(`hold ${queue}`, { deadline: '10m', queue }).step('hold', {
      run: () => new Promise<void>((resolve) => held.push(resolve)),
    })
  const [hold, bulk, foreign, moves, migrations, copies] = [
    holdIn('actions'),
    holdIn('bulk'),
    holdIn('foreign'),
    holdIn('moves'),
    holdIn('migrations'),
    holdIn('copies'),
  ]
  const guest = workflowsFor()<object>('hold guest', { deadline: '10m' }).step('hold', {
    waitsForGuest: true,
    run: () => new Promise<void>((resolve) => held.push(resolve)),
  })
  const openEngine = () => startEngine(deps, { workflows: [hold, bulk, foreign, moves, migrations, copies, guest], supervise: true })
  const runsStarted = async (engine: Awaited<ReturnType<typeof openEngine>>, count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => db.tx((tx) => engine.start(tx, hold, {}, { label: 'HOLD' }))))
  const statuses = async (ids: string[]): Promise<string[]> =>
    (await Promise.all(ids.map((id) => store.findRun(db, id)))).map((run) => run!.status)
  const counted = async (ids: string[], status: string): Promise<number> => (await statuses(ids)).filter((each) => each === status).length

  /** Until all of them have completed. */
  const letGo = (ids: string[]): Promise<void> => {
    const completed = (): Promise<number> => {
      for (const end of held.splice(0)) end()
      return counted(ids, 'COMPLETED')
    }
    return expect.poll(completed, { timeout: 10_000 }).toBe(ids.length)
  }

  test.for([1, 3])('runs %i concurrently and claims the next when one has ended', async (most) => {
    const engine = await openEngine()
    const ids = await runsStarted(engine, 2 * most + 1)
    await engine.work({}, most)
    for (let ended = 0; ended < ids.length; ended++) {
      await expect.poll(() => held.length, { timeout: 10_000 }).toBe(Math.min(most, ids.length - ended))
      expect(await counted(ids, 'RUNNING')).toBe(held.length)
      held.shift()!()
      await expect.poll(() => counted(ids, 'COMPLETED')).toBe(ended + 1)
    }
    await engine.drain(new AbortController().signal)
    await engine.stop()
  })

  test('keeps no action waiting for those that take hours, of which it runs a quarter as many', async () => {
    const engine = await openEngine()
    const started = (workflow: typeof hold, count: number) =>
      Promise.all(Array.from({ length: count }, () => db.tx((tx) => engine.start(tx, workflow, {}, { label: 'HOLD' }))))
    const theirs = await started(foreign, 20)
    await engine.work({}, 16)
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(2)
    const slow = await started(bulk, 5)
    await expect.poll(() => counted(slow, 'RUNNING'), { timeout: 10_000 }).toBe(4)
    expect(await counted(theirs, 'RUNNING')).toBe(2)
    await db.tx(async (tx) => {
      for (const id of theirs) await engine.cancel(tx, id, 'no longer wanted')
    })
    await expect
      .poll(async () => (await Promise.all(theirs.map((id) => store.findRun(db, id)))).some((run) => run!.compensating), {
        timeout: 20_000,
      })
      .toBe(false)
    held.splice(0, 2)
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(4)
    const others = await started(hold, 8)
    await expect.poll(() => counted(others, 'RUNNING'), { timeout: 10_000 }).toBe(8)
    expect([await counted(slow, 'RUNNING'), held.length]).toEqual([4, 12])
    // Those that wait have lost no job, and one that is cancelled is undone at once.
    expect(await engine.requeueAbandonedRuns()).toBe(0)
    const waiting = slow[(await statuses(slow)).indexOf('PENDING')]!
    for (const end of held.splice(4)) end()
    await db.tx((tx) => engine.cancel(tx, waiting, 'no longer wanted'))
    await expect.poll(async () => (await store.findRun(db, waiting))!.compensating, { timeout: 10_000 }).toBe(false)
    expect(await counted(slow, 'RUNNING')).toBe(4)
    const drained = engine.drain(new AbortController().signal)
    for (const end of held.splice(0)) end()
    await drained
    await engine.stop()
  })

  test('keeps no action and no backup waiting for copies, of which it runs a quarter as many', async () => {
    const engine = await openEngine()
    const begin = (workflow: typeof hold) => db.tx((tx) => engine.start(tx, workflow, {}, { label: 'HOLD' }))
    const theirs = await Promise.all(Array.from({ length: 4 }, () => begin(copies)))
    await engine.work({}, 8)
    await expect.poll(() => counted(theirs, 'RUNNING'), { timeout: 10_000 }).toBe(2)
    const others = [await begin(hold), await begin(bulk)]
    await expect.poll(() => statuses(others), { timeout: 10_000 }).toEqual(['RUNNING', 'RUNNING'])
    expect(await counted(theirs, 'PENDING')).toBe(2)
    await letGo([...theirs, ...others])
    await engine.drain(new AbortController().signal)
    await engine.stop()
  })

  test('keeps no migration of an operator waiting for moves of customers', async () => {
    const engine = await openEngine()
    const begin = (workflow: typeof hold) => db.tx((tx) => engine.start(tx, workflow, {}, { label: 'HOLD' }))
    const theirs = [await begin(moves), await begin(moves), await begin(moves)]
    await engine.work({}, 8)
    await expect.poll(() => counted(theirs, 'RUNNING'), { timeout: 10_000 }).toBe(1)
    const own = await begin(migrations)
    await expect.poll(() => statuses([own]), { timeout: 10_000 }).toEqual(['RUNNING'])
    expect(await counted(theirs, 'PENDING')).toBe(2)
    await letGo([...theirs, own])
    await engine.drain(new AbortController().signal)
    await engine.stop()
  })

  test('keeps no action waiting for guests, of which it waits for eight times as many as it has places', async () => {
    const engine = await openEngine()
    const start = (workflow: typeof hold) => db.tx((tx) => engine.start(tx, workflow, {}, { label: 'HOLD' }))
    await engine.work({}, 2)
    const silent = await Promise.all(Array.from({ length: 20 }, () => start(guest)))
    await expect.poll(() => counted(silent, 'RUNNING'), { timeout: 10_000 }).toBe(18)
    const next = await start(hold)
    held.splice(0, 4).forEach((end) => end())
    await expect.poll(() => statuses([next]), { timeout: 10_000 }).toEqual(['RUNNING'])
    expect(await counted(silent, 'RUNNING')).toBe(16)
    await letGo([...silent, next])
    await engine.drain(new AbortController().signal)
    await engine.stop()
  })

  test('leaves the step of a cancelled run, and its place is taken by the next', async () => {
    const engine = await openEngine()
    await engine.work({}, 1)
    const begin = () => db.tx((tx) => engine.start(tx, bulk, {}, { label: 'HOLD' }))
    const first = await begin()
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1)
    const second = await begin()
    await db.tx((tx) => engine.cancel(tx, first, 'no longer wanted'))
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(2)
    expect(await statuses([first, second])).toEqual(['CANCELLED', 'RUNNING'])
    for (const end of held.splice(0)) end()
    await expect.poll(() => statuses([first, second])).toEqual(['CANCELLED', 'COMPLETED'])
    await engine.drain(new AbortController().signal)
    await engine.stop()
  })

  test('waits for open runs on drain and claims no more', async () => {
    const engine = await openEngine()
    await engine.work({}, 10)
    const [first] = await runsStarted(engine, 1)
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1)
    const drained = engine.drain(new AbortController().signal)
    const [second] = await runsStarted(engine, 1)
    held.shift()!()
    await drained
    expect(await statuses([first!, second!])).toEqual(['COMPLETED', 'PENDING'])
    await engine.stop()
  })
})
