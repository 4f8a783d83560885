import { describe, expect, test } from 'vitest'
import {
  ActionFailedError,
  ActionTimeoutError,
  Berth,
  NetworkError,
  type Action,
  type ClientOptions,
  type WaitOptions,
} from '../src/index.ts'
import { sleep } from '../src/options.ts'
import { hang, reset, scripted, type Behaviour } from './scripted.ts'
import { sdkWorld, witness } from './world.ts'

const app = await sdkWorld()

async function begun(options: Partial<ClientOptions> = {}) {
  const customer = await app.given.customer({ credit: '100.00' })
  const { attempts, handlers } = witness()
  const berth = app.client(customer, { handlers, ...options })
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
    const { berth, created } = await begun({ sleep })
    const waiting = berth.waitForAction(created, { timeoutMs: 1_500 })
    await expect(waiting).rejects.toBeInstanceOf(ActionTimeoutError)
    await expect(waiting).rejects.toThrow(/^CREATE is still PENDING \(0 %\) after 1.5 seconds. The action goes on/)
    await app.settle()
    expect(await berth.waitForAction(created)).toMatchObject({ status: 'COMPLETED' })
  })

  test.each<[string, Behaviour[]]>([
    ['does not answer', [hang]],
    ['breaks off', Array.from({ length: 100 }, () => reset)],
  ])('gives up after the time it has when the server %s', async (_, behaviours) => {
    const { baseUrl } = await scripted(...behaviours)
    const began = performance.now()
    const waiting = new Berth({ baseUrl, token: 'vmk_test' }).waitForAction({ vmId: 'c1', actionId: 'c2' }, { timeoutMs: 300 })
    await expect(waiting).rejects.toMatchObject({
      name: 'ActionTimeoutError',
      message: 'The server has not answered within 0.3 seconds. The action goes on: wait for action c2 again',
      actionId: 'c2',
      action: null,
    })
    expect(performance.now() - began).toBeLessThan(10_000) // an attempt has 15 seconds, and there are 15 of them
  })

  test('looks again as often as it or its client is told, else for longer than other calls', async () => {
    const lookedAt = async (client: Partial<ClientOptions>, options: WaitOptions = {}): Promise<number> => {
      const { baseUrl, requests } = await scripted(...Array.from({ length: 50 }, () => reset))
      const berth = new Berth({ baseUrl, token: 'vmk_test', sleep: async () => {}, ...client })
      await expect(berth.waitForAction({ vmId: 'c1', actionId: 'c2' }, options)).rejects.toBeInstanceOf(NetworkError)
      return requests.length
    }
    expect(await lookedAt({})).toBe(16)
    expect(await lookedAt({ maxRetries: 0 })).toBe(1)
    expect(await lookedAt({ maxRetries: 0 }, { maxRetries: 2 })).toBe(3)
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
