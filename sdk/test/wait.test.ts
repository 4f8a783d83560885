import { describe, expect, test } from 'vitest'
import { ActionFailedError, ActionTimeoutError, type Action } from '../src/index.ts'
import { sdkWorld, witness } from './world.ts'

const app = await sdkWorld()

async function begun() {
  const customer = await app.given.customer({ credit: '100.00' })
  const { attempts, handlers } = witness()
  const berth = app.client(customer, { handlers })
  const created = await berth.vms.create(await app.given.vmInput())
  attempts.length = 0
  return { berth, created, attempts, waits: () => attempts.map(({ path }) => path.replace(/.*\?/, '')) }
}

describe('waitForAction', () => {
  test('answers the action as soon as it has completed, with a single request', async () => {
    const { berth, created, attempts, waits } = await begun()
    const waiting = berth.waitForAction(created)
    await expect.poll(() => attempts.length).toBe(1)
    await app.settle()
    expect(await waiting).toMatchObject({ id: created.actionId, action: 'CREATE', status: 'COMPLETED', progress: 100 })
    expect(waits()).toEqual(['wait=30'])
    expect(await berth.vms.get(created.vmId)).toMatchObject({ status: 'RUNNING' })
  })

  test('takes an action that was read, also one that has ended', async () => {
    const { berth, created } = await begun()
    await app.settle()
    const [action] = await berth.actions.ofVm(created.vmId).all()
    expect(await berth.waitForAction(action!)).toEqual(action)
  })

  test('tells how far it is', async () => {
    const { berth, created, waits } = await begun()
    const told: Action[] = []
    const waiting = berth.waitForAction(created, { onProgress: (action) => void told.push(action) })
    await expect.poll(() => told.length, { timeout: 10_000 }).toBe(1)
    await app.settle()
    await waiting
    expect(told.map(({ status }) => status)).toEqual(['PENDING', 'COMPLETED'])
    expect(told[1]!.steps.map(({ status }) => status)).toEqual(expect.arrayContaining(['COMPLETED']))
    expect(new Set(waits())).toEqual(new Set(['wait=2']))
  })

  test('says why it failed', async () => {
    const { berth, created } = await begun()
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const waiting = berth.waitForAction(created).catch((error: unknown) => error as ActionFailedError)
    await app.settle()
    const failure = await waiting
    expect(failure).toBeInstanceOf(ActionFailedError)
    const { error } = await berth.actions.get(created.vmId, created.actionId)
    expect(failure).toMatchObject({ message: error, action: { id: created.actionId, status: 'FAILED' } })
  })

  test('gives up after the time it has, and the action goes on', async () => {
    const { berth, created } = await begun()
    const waiting = berth.waitForAction(created, { timeoutMs: 50 })
    await expect(waiting).rejects.toBeInstanceOf(ActionTimeoutError)
    await expect(waiting).rejects.toThrow(/^CREATE is still PENDING \(0 %\) after 0.05 seconds. It goes on/)
    await app.settle()
    expect(await berth.waitForAction(created)).toMatchObject({ status: 'COMPLETED' })
  })

  test('is given up by its signal', async () => {
    const { berth, created, attempts } = await begun()
    const controller = new AbortController()
    const waiting = berth.waitForAction(created, { signal: controller.signal })
    await expect.poll(() => attempts.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('knows of every operation that takes its time which VM it is of', async () => {
    const { berth, created } = await begun()
    await app.settle()
    const began = [
      () => berth.vms.stop(created.vmId, { force: true }),
      () => berth.vms.start(created.vmId),
      () => berth.vms.setPassword(created.vmId, 'a new password'),
      () => berth.snapshots.create(created.vmId, { name: 'before' }),
      () => berth.backups.create(created.vmId, { name: 'before' }),
      () => berth.vms.delete(created.vmId),
    ]
    for (const begin of began) {
      const action = await begin()
      await app.settle()
      expect(await berth.waitForAction(action)).toMatchObject({ id: action.actionId, vmId: created.vmId, status: 'COMPLETED' })
    }
  })
})
