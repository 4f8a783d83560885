import { describe, expect, test } from 'vitest'
import { openSampleEngine, settle } from '../../test/sample-workflow.ts'
import { sql, type Sql } from '../kernel/database/db.ts'
import { createMetrics } from '../kernel/metrics.ts'
import { StepError } from './workflow-builder.ts'
import { startEngine } from './engine.ts'
import { resumeRun, type AnyWorkflow, type Runner } from './executor.ts'
import * as store from './run-store.ts'

describe('the workflow engine', async () => {
  const { db, clock, fixture, deps, engine, queued, runner, start, runOf, houseOf } = await openSampleEngine()

  test('fences the write of a worker whose run was taken over', async () => {
    const id = await start()
    const outcomes: string[] = []
    const slow: Runner = {
      ...runner,
      stepDeps: {
        buy: fixture.buy,
        build: async (house: string) => {
          await fixture.build(house)
          clock.advance('16s') // its lease has expired unnoticed
          await resumeRun(runner, id)
          outcomes.push((await runOf(id)).status)
        },
      },
      checkpoint: (where) => void outcomes.push(where),
    }
    await resumeRun(slow, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    expect(outcomes.slice(-2)).toEqual(['COMPLETED', 'build run']) // and nothing is saved after that
    expect((await houseOf(run)).row).toEqual({ what: 'owned for 12', times: 1 })
  })

  test('does not claim a run with a valid lease', async () => {
    const id = await start()
    await db.run(sql`update workflow_runs set lease_until = ${new Date(clock.now().getTime() + 1000)}, status = 'RUNNING' where id = ${id}`)
    await resumeRun(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', attempt: 0 })
  })

  test('allows one open run per subject', async () => {
    await start({ subjectId: 'plot-7' })
    await expect(start({ subjectId: 'plot-7' })).rejects.toMatchObject({ code: 'busy' })
  })

  test('cancels immediately and compensates in the background', async () => {
    const id = await start({ subjectId: 'plot-8' })
    let cancelled: Promise<boolean> | undefined
    const interrupted: Runner = {
      ...runner,
      checkpoint: (where) => {
        if (where === 'buy saved') cancelled = db.tx((tx) => engine.cancel(tx, id, 'Made way for something more urgent'))
      },
    }
    fixture.fault = (verb) => {
      if (verb === 'build') throw new StepError('host', 'Try again', { retry: true })
    }
    await resumeRun(interrupted, id)
    expect(await cancelled).toBe(true)
    expect(await runOf(id)).toMatchObject({ status: 'CANCELLED', compensating: true })
    await expect(start({ subjectId: 'plot-8' })).resolves.toBeTypeOf('string')
    await resumeRun(runner, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'CANCELLED', compensating: false, error: 'Made way for something more urgent' })
    expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
  })

  test('aborts a run, which stays open until its worker has let go of it and everything is undone', async () => {
    const id = await start({ subjectId: 'plot-9' })
    let aborted: boolean[] = []
    const interrupted: Runner = {
      ...runner,
      stepDeps: {
        buy: fixture.buy,
        build: async (house: string) => {
          await fixture.build(house)
          const abort = () => db.tx((tx) => engine.abort(tx, id, 'No longer wanted'))
          aborted = [await abort(), await abort()]
        },
      },
    }
    await resumeRun(interrupted, id)
    expect(aborted).toEqual([true, false])
    await resumeRun(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', compensating: true, completed_at: null })
    await expect(start({ subjectId: 'plot-9' })).rejects.toMatchObject({ code: 'busy' })
    clock.advance('16s')
    await resumeRun(runner, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'CANCELLED', compensating: false, error: 'No longer wanted', error_code: 'run_aborted' })
    expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
    await expect(start({ subjectId: 'plot-9' })).resolves.toBeTypeOf('string')
  })

  test('starts nothing when its transaction rolls back', async () => {
    let id = ''
    const failing = db.tx(async (tx) => {
      id = await engine.start(tx, settle, { house: 'never' }, { label: 'SETTLE' })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await store.findRun(db, id)).toBeUndefined()
    expect((await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows).toEqual([])
  })

  test('requeues a run whose job was lost before it started, when there is capacity', async () => {
    const other = await startEngine(deps, { workflows: [settle], supervise: false })
    const id = await start()
    await db.raw(`delete from pgboss.job where data ->> 'runId' = '${id}'`)
    clock.advance('11s')
    const jobs = async () => (await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows.length
    await engine.requeueAbandonedRuns() // runs no workers, and so cannot tell
    expect(await jobs()).toBe(0)
    await other.work(fixture, 1)
    await other.requeueAbandonedRuns()
    await expect.poll(async () => (await runOf(id)).status).toBe('COMPLETED')
    await other.drain(AbortSignal.timeout(5_000))
    await other.stop()
  })

  test('leaves a run to workers of another version where it does not know a step or the workflow', async () => {
    const nextSettle = settle.step('insure', {})
    const newer: Runner = { ...runner, workflows: new Map<string, AnyWorkflow>([[settle.name, nextSettle]]) }
    const older: Runner = { ...runner, workflows: new Map() }
    const next = await startEngine(deps, { workflows: [nextSettle], supervise: false })
    const id = await db.tx((tx) => next.start(tx, nextSettle, { house: 'insured' }, { label: 'SETTLE' }))
    for (const each of [runner, older]) {
      queued.length = 0
      await resumeRun(each, id)
      expect(queued).toEqual([{ runId: id, at: new Date(clock.now().getTime() + 2_000) }])
      const run = await runOf(id)
      expect(run).toMatchObject({ status: 'RUNNING', lease_until: null, compensating: false, progress: 0 })
      expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
    }
    await resumeRun(newer, id)
    expect(await runOf(id)).toMatchObject({ status: 'COMPLETED' })
    await next.stop()
  })

  test('counts failures from zero, so that the first one raises the alert', async () => {
    const metrics = createMetrics()
    const other = await startEngine({ ...deps, metrics }, { workflows: [settle], supervise: false })
    await other.work(fixture, 1)
    const text = await metrics.registry.metrics()
    expect(text).toContain('berth_workflow_cleanup_failed_total{workflow="house.settle"} 0')
    expect(text).toContain('berth_workflow_runs_total{workflow="house.settle",status="FAILED"} 0')
    await other.drain(AbortSignal.timeout(5_000))
    await other.stop()
  })

  test('requeues a run when its worker has died', async () => {
    const id = await start()
    await db.raw(`delete from pgboss.job where data ->> 'runId' = '${id}'`)
    await db.run(
      sql`update workflow_runs set lease_until = ${new Date(clock.now().getTime() + 14_000)}, status = 'RUNNING' where id = ${id}`,
    )
    const jobs = async () => (await db.raw(`select 1 from pgboss.job where data ->> 'runId' = '${id}'`)).rows.length
    await engine.requeueAbandonedRuns()
    expect(await jobs()).toBe(0)
    clock.advance('15s')
    await engine.requeueAbandonedRuns()
    expect(await jobs()).toBe(1)
  })

  test('does not requeue a run that another worker claimed meanwhile', async () => {
    const id = await start()
    await db.run(sql`update workflow_runs set lease_until = ${clock.now()}, status = 'RUNNING' where id = ${id}`)
    const lease = new Date(clock.now().getTime() + 15_000)
    const many: typeof db.many = async <Row>(query: Sql) => {
      const found = await db.many<Row>(query)
      await store.claimRun(db, id, clock.now(), lease)
      return found
    }
    const late = await startEngine({ ...deps, db: { ...db, many } }, { workflows: [settle], supervise: false })
    await late.requeueAbandonedRuns()
    expect(await runOf(id)).toMatchObject({ lease_until: lease })
    await late.stop()
  })
})
