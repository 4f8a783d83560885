import { describe, expect, test } from 'vitest'
import { openSampleEngine, settle, workflow, write, type Input } from '../../test/sample-workflow.ts'
import { StepError } from './workflow-builder.ts'
import { resumeRun, type AnyWorkflow, type Runner } from './executor.ts'
import * as store from './run-store.ts'
import { testCrashSafety } from './testing.ts'

describe('workflows', async () => {
  const { db, clock, fixture, queued, runner, start, runOf, houseOf } = await openSampleEngine()

  const setup = { db, clock, runner, start }
  const isBuilt = async (run: store.RunRow): Promise<void> => {
    expect(run).toMatchObject({ status: 'COMPLETED', progress: 100, error: null })
    expect(await houseOf(run)).toEqual({ plot: true, built: true, row: { what: 'owned for 12', times: 1 } })
  }
  const isGone = async (run: store.RunRow): Promise<void> => {
    expect(run).toMatchObject({ status: 'FAILED', error: 'Failed on purpose', error_code: 'planted' })
    expect(await houseOf(run)).toEqual({ plot: false, built: false, row: { what: 'failed: Failed on purpose', times: 1 } })
  }

  test.each([
    ['at any place', true, 40],
    ['at every place', false, 4],
  ])('complete with each save exactly once when the worker crashes %s', async (_, thorough, least) => {
    const trials = await testCrashSafety({ ...setup, workflow: settle, completed: isBuilt, failed: isGone }, { thorough })
    expect(trials.length).toBeGreaterThan(least)
  })

  test.each([true, false])('a step that cannot run twice is detected, thorough: %s', async (thorough) => {
    const build = async (id: string): Promise<void> => {
      if (fixture.houses.has(id)) throw new StepError('exists', 'It is there already', { retry: false })
      await fixture.build(id)
    }
    const once = { ...runner, stepDeps: { buy: fixture.buy, sell: fixture.sell, build, tearDown: fixture.tearDown } }
    const proof = testCrashSafety({ ...setup, runner: once, workflow: settle, completed: isBuilt, failed: isGone }, { thorough })
    await expect(proof).rejects.toThrow(/house.settle: killed at .*build run/)
  })

  test('detects a workflow with an incomplete undo', async () => {
    const { name, deadlineMs, locks: holds, queue, success, failure } = settle
    const careless = {
      name,
      deadlineMs,
      locks: holds,
      queue,
      success,
      failure,
      steps: settle.steps.map(({ undo: _, ...step }) => step),
    } as AnyWorkflow
    const failed = async (run: store.RunRow): Promise<void> => expect((await houseOf(run)).plot).toBe(false)
    const proof = testCrashSafety({ ...setup, workflow: careless, completed: async () => {}, failed })
    await expect(proof).rejects.toThrow('house.settle')
  })

  test('retry a step with backoff', async () => {
    const id = await start()
    let failures = 2
    fixture.fault = (verb) => {
      if (verb === 'build' && failures-- > 0) throw new StepError('host', 'The host did not answer', { retry: true })
    }
    queued.length = 0
    for (let i = 0; i < 3; i++) {
      await resumeRun(runner, id)
      clock.advance('5s')
    }
    expect(await runOf(id)).toMatchObject({ status: 'COMPLETED', attempt: 3 })
    expect(queued.map(({ at }) => at.getTime() - (clock.now().getTime() - 15_000))).toEqual([1_000, 7_000])
  })

  test('compensate when the attempts are used up', async () => {
    const id = await start()
    fixture.fault = (verb) => {
      if (verb === 'build') throw new StepError('host', 'The host did not answer', { retry: true })
    }
    for (let i = 0; i < 5; i++) {
      await resumeRun(runner, id)
      clock.advance('31s')
    }
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'FAILED', error: 'The host did not answer', error_code: 'host' })
    expect(await houseOf(run)).toMatchObject({ plot: false, built: false })
    expect((await store.stepsOf(db, [id])).map((step) => step.status)).toEqual(['UNDONE', 'UNDONE', 'PENDING'])
  })

  test('hide the details of a bug from the customer', async () => {
    const id = await start()
    fixture.fault = (verb) => {
      if (verb === 'buy') throw new Error('secret detail')
    }
    for (let i = 0; i < 5; i++) {
      await resumeRun(runner, id)
      clock.advance('31s')
    }
    expect(await runOf(id)).toMatchObject({
      status: 'FAILED',
      error: 'Something went wrong on our side. Contact support if it happens again',
    })
  })

  test('fail at the deadline and compensate', async () => {
    const id = await start()
    fixture.fault = (verb) => {
      if (verb === 'build') throw new StepError('host', 'The host did not answer', { retry: true })
    }
    await resumeRun(runner, id)
    clock.advance('10m')
    await resumeRun(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'FAILED', error_code: 'deadline' })
  })

  test('report a failed compensation and still run onFailure', async () => {
    const id = await start()
    fixture.fault = (verb) => {
      if (verb !== 'buy') throw new StepError('host', 'The host is gone', { retry: false })
    }
    await resumeRun(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', compensating: true })
    clock.advance('21m')
    await resumeRun(runner, id)
    const run = await runOf(id)
    expect(run).toMatchObject({ status: 'FAILED', cleanup_failed: true })
    expect((await houseOf(run)).row).toMatchObject({ what: 'failed: The host is gone' })
  })

  test('remember a failed compensation when the worker dies before the next one', async () => {
    const id = await start()
    fixture.fault = (verb) => {
      if (verb !== 'buy') throw new StepError('host', 'The host is gone', { retry: false })
    }
    await resumeRun(runner, id)
    clock.advance('21m')
    fixture.fault = (verb) => {
      if (verb === 'tearDown') throw new StepError('host', 'The host is gone', { retry: false })
    }
    const checkpoint = (where: string): void => {
      if (where === 'build undo saved') throw new store.AttemptLostError('killed')
    }
    await resumeRun({ ...runner, checkpoint }, id).catch(() => {})
    expect(await runOf(id)).toMatchObject({ status: 'RUNNING', compensating: true })
    clock.advance('10m')
    await resumeRun(runner, id)
    expect(await runOf(id)).toMatchObject({ status: 'FAILED', cleanup_failed: true })
  })

  test('complete although an optional step fails, even after the deadline', async () => {
    const tidy = workflow<Input>('house.tidy', { deadline: '10m' })
      .step('build', { run: ({ deps, input }) => deps.build(input.house) })
      .step('sweep', { run: ({ deps, input }) => deps.sell(input.house), optional: true })
      .onSuccess((tx, { input }) => write(tx, input.house, 'tidy'))
    const withTidy: Runner = { ...runner, workflows: new Map<string, AnyWorkflow>([[tidy.name, tidy]]) }
    const begin = (house: string) =>
      db.tx(async (tx) => {
        const whose = { ownerId: null, subjectId: null, traceParent: null }
        const run = { id: house, name: tidy.name, label: 'TIDY', ...whose, input: { house }, now: clock.now() }
        await store.insertRun(tx, { ...run, deadlineAt: new Date(clock.now().getTime() + 600_000), steps: ['build', 'sweep'] })
      })
    fixture.fault = (verb) => {
      if (verb === 'sell') throw new StepError('host', 'No broom', { retry: false })
    }
    await begin('untidy')
    await resumeRun(withTidy, 'untidy')
    expect(await runOf('untidy')).toMatchObject({ status: 'COMPLETED', error: null })
    expect((await store.stepsOf(db, ['untidy'])).map((step) => step.status)).toEqual(['COMPLETED', 'FAILED'])

    fixture.fault = (verb) => {
      if (verb === 'sell') throw new StepError('host', 'No broom yet', { retry: true })
    }
    await begin('late')
    await resumeRun(withTidy, 'late')
    expect(await runOf('late')).toMatchObject({ status: 'RUNNING' })
    clock.advance('11m')
    await resumeRun(withTidy, 'late')
    expect(await runOf('late')).toMatchObject({ status: 'COMPLETED', error: null })
  })
})
