// A write has one effect, whatever happens to its answers. Counted in the real product: VMs, charges, keys.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sql } from '../../server/src/kernel/database/db.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { NetworkError } from '../src/index.ts'
import { sdkWorld, witness } from './world.ts'

const app = await sdkWorld()
const proxy = await app.proxy()
const publicKey = generateKey().line

async function customerBehindProxy() {
  const customer = await app.given.customer({ credit: '100.00' })
  const { attempts, handlers } = witness()
  const direct = app.client(customer)
  const charges = async (): Promise<number> => (await direct.wallet.transactions({ type: 'VM_CHARGE' }).all()).length
  const vms = async (): Promise<number> => (await direct.vms.list().all()).length
  return { customer, attempts, direct, charges, vms, berth: app.client(customer, { baseUrl: proxy.baseUrl, handlers }) }
}

describe('a write whose answer is lost', () => {
  test.each([
    ['before the first byte', [0]],
    ['in the headers', [40]],
    ['in the body', [900]],
    ['again and again', [0, 40, 900, 0, 900]],
  ])('%s has one effect and is answered in the end', async (_, cuts) => {
    const { berth, attempts, direct, charges, vms } = await customerBehindProxy()
    proxy.cutAnswersAfter(...cuts)
    const created = await berth.vms.create(await app.given.vmInput())
    expect(attempts.map(({ status, replayed }) => [status, replayed]).at(-1)).toEqual([202, true])
    expect(attempts).toHaveLength(cuts.length + 1)
    expect(new Set(attempts.map(({ key }) => key)).size).toBe(1)
    expect([await vms(), await charges()]).toEqual([1, 1])
    expect(await direct.vms.get(created.vm.id)).toMatchObject({ id: created.vmId, currentAction: { id: created.actionId } })
  })

  test('is told of, when it must not be repeated', async () => {
    const { berth, vms } = await customerBehindProxy()
    proxy.cutAnswersAfter(0)
    await expect(berth.vms.create(await app.given.vmInput(), { idempotencyKey: null })).rejects.toBeInstanceOf(NetworkError)
    expect(await vms()).toBe(1)
  })

  test('and that is still under way when it is repeated, is waited for', async () => {
    const customer = await app.given.customer()
    const { attempts, handlers } = witness()
    const { release } = await holdKey(customer.accountId, 'held')
    const berth = app.client(customer, { handlers, sleep: release })
    const key = await berth.sshKeys.create({ name: 'key', publicKey }, { idempotencyKey: 'held' })
    expect(attempts.map(({ status }) => status)).toEqual([409, 201])
    expect(await berth.sshKeys.list().all()).toMatchObject([{ id: key.id }])
  })
})

/** Stands in for an attempt that is under way in another connection: it has the lock that such an attempt has. */
async function holdKey(accountId: string, key: string) {
  const lock = createHash('sha256').update(`${accountId}\n${key}`).digest().readBigInt64BE()
  const released = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const done = app.db.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${lock}::int8)`)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  return {
    async release(): Promise<void> {
      released.resolve()
      await done
    },
  }
}

test('connections that are refused are tried again', async () => {
  const { berth, direct } = await customerBehindProxy()
  proxy.cutAll()
  proxy.refuseConnections(3)
  await berth.sshKeys.create({ name: 'key', publicKey })
  expect(await direct.sshKeys.list().all()).toHaveLength(1)
})

describe('over the limit of requests', () => {
  test('a client waits as long as it is told, and everything is done once', async () => {
    const customer = await app.given.customer({ requestsPerMinute: 4 })
    const { attempts, handlers } = witness()
    const pauses: number[] = []
    const sleep = (ms: number): Promise<void> => {
      pauses.push(ms)
      return app.passTime(ms)
    }
    const berth = app.client(customer, { handlers, sleep })
    for (let i = 0; i < 10; i++) await berth.sshKeys.create({ name: `key ${i}`, publicKey: generateKey().line })
    const refused = attempts.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(2)
    expect(pauses).toHaveLength(refused.length)
    expect(attempts).toHaveLength(10 + refused.length) // each pause was long enough: no attempt was refused twice
    expect(await berth.sshKeys.list().all()).toHaveLength(10)
  })

  test('a client that is not to wait says how long it would have had to', async () => {
    const customer = await app.given.customer({ requestsPerMinute: 1 })
    const berth = app.client(customer, { maxRetries: 0 })
    await berth.regions.list()
    await expect(berth.regions.list()).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringMatching(/^Rate limit exceeded \(per token\): retry in \d+ seconds?$/),
      retryAfterSeconds: expect.any(Number),
    })
  })
})
