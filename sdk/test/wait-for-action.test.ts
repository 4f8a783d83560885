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
import { sdkFixture, recordAttempts } from './fixture.ts'

const app = await sdkFixture()

async function begun(options: Partial<ClientOptions> = {}) {
  const customer = await app.given.customer({ credit: '100.00' })
  const { attempts, handlers } = recordAttempts()
  const berth = app.client(customer, { handlers, ...options })
  const created = await berth.vms.create(await app.given.vmInput())
  attempts.length = 0
  return { berth, created, attempts, waits: () => attempts.map(({ path }) => path.replace(/.*\?/, '')) }
}

describe('waitForAction', () => {
  test('resolves as soon as the action completes, with a single request', async () => {
    const { berth, created, attempts, waits } = await begun()
    const waiting = berth.waitForAction(created)
    await expect.poll(() => attempts.length).toBe(1)
    await app.settle()
    expect(await waiting).toMatchObject({ id: created.actionId, action: 'CREATE', status: 'COMPLETED', progress: 100 })
    expect(waits()).toEqual(['wait=30'])
    expect(await berth.vms.get(created.vmId)).toMatchObject({ status: 'RUNNING' })
  })

  test('accepts an action object, also of an ended action', async () => {
    const { berth, created } = await begun()
    await app.settle()
    const [action] = await berth.actions.ofVm(created.vmId).all()
    expect(await berth.waitForAction(action!)).toEqual(action)
  })

  test('reports progress', async () => {
    const { berth, created, waits } = await begun()
    const reported: Action[] = []
    const waiting = berth.waitForAction(created, { onProgress: (action) => void reported.push(action) })
    await expect.poll(() => reported.length, { timeout: 10_000 }).toBe(1)
    await app.settle()
    await waiting
    expect(reported.map(({ status }) => status)).toEqual(['PENDING', 'COMPLETED'])
    expect(reported[1]!.steps.map(({ status }) => status)).toEqual(expect.arrayContaining(['COMPLETED']))
    expect(new Set(waits())).toEqual(new Set(['wait=2']))
  })

  test('rejects with the reason of the failure', async () => {
    const { berth, created } = await begun()
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const waiting = berth.waitForAction(created).catch((error: unknown) => error as ActionFailedError)
    await app.settle()
    const failure = await waiting
    expect(failure).toBeInstanceOf(ActionFailedError)
    const { error } = await berth.actions.get(created.vmId, created.actionId)
    expect(failure).toMatchObject({ message: error, action: { id: created.actionId, status: 'FAILED' } })
  })

  test('times out while the action continues', async () => {
    const { berth, created } = await begun({ sleep })
    const waiting = berth.waitForAction(created, { timeoutMs: 1_500 })
    await expect(waiting).rejects.toBeInstanceOf(ActionTimeoutError)
    await expect(waiting).rejects.toThrow(/^CREATE is still PENDING \(0 %\) after 1.5 seconds. The action continues/)
    await app.settle()
    expect(await berth.waitForAction(created)).toMatchObject({ status: 'COMPLETED' })
  })

  test.each<[string, Behaviour[]]>([
    ['does not answer', [hang]],
    ['resets connections', Array.from({ length: 100 }, () => reset)],
  ])('times out when the server %s', async (_, behaviours) => {
    const { baseUrl } = await scripted(...behaviours)
    const began = performance.now()
    const waiting = new Berth({ baseUrl, token: 'vmk_test' }).waitForAction({ vmId: 'c1', actionId: 'c2' }, { timeoutMs: 300 })
    await expect(waiting).rejects.toMatchObject({
      name: 'ActionTimeoutError',
      message: 'The server did not respond within 0.3 seconds. The action continues: wait for action c2 again',
      actionId: 'c2',
      action: null,
    })
    expect(performance.now() - began).toBeLessThan(10_000) // an attempt has 15 seconds, and there are 15 of them
  })

  test('retries as often as its option or the client says, by default more often than other calls', async () => {
    const countPolls = async (client: Partial<ClientOptions>, options: WaitOptions = {}): Promise<number> => {
      const { baseUrl, requests } = await scripted(...Array.from({ length: 50 }, () => reset))
      const berth = new Berth({ baseUrl, token: 'vmk_test', sleep: async () => {}, ...client })
      await expect(berth.waitForAction({ vmId: 'c1', actionId: 'c2' }, options)).rejects.toBeInstanceOf(NetworkError)
      return requests.length
    }
    expect(await countPolls({})).toBe(16)
    expect(await countPolls({ maxRetries: 0 })).toBe(1)
    expect(await countPolls({ maxRetries: 0 }, { maxRetries: 2 })).toBe(3)
  })

  test('is cancelled by its signal', async () => {
    const { berth, created, attempts } = await begun()
    const controller = new AbortController()
    const waiting = berth.waitForAction(created, { signal: controller.signal })
    await expect.poll(() => attempts.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('accepts the result of every operation that starts an action', async () => {
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
