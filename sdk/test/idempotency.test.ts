// A write takes effect once even if its responses are lost. Counted on the real server: VMs, charges, keys.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sql } from '../../server/src/kernel/database/db.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { NetworkError } from '../src/index.ts'
import { sdkFixture, recordAttempts } from './fixture.ts'

const app = await sdkFixture()
const proxy = await app.proxy()
const publicKey = generateKey().line

async function customerBehindProxy() {
  const customer = await app.given.customer({ credit: '100.00' })
  const { attempts, handlers } = recordAttempts()
  const direct = app.client(customer)
  const charges = async (): Promise<number> => (await direct.wallet.transactions({ type: 'VM_CHARGE' }).all()).length
  const vms = async (): Promise<number> => (await direct.vms.list().all()).length
  return { customer, attempts, direct, charges, vms, berth: app.client(customer, { baseUrl: proxy.baseUrl, handlers }) }
}

describe('a write whose response is lost', () => {
  test.each([
    ['before the first byte', [0]],
    ['in the headers', [40]],
    ['in the body', [900]],
    ['again and again', [0, 40, 900, 0, 900]],
  ])('%s takes effect once and returns its result', async (_, cuts) => {
    const { berth, attempts, direct, charges, vms } = await customerBehindProxy()
    proxy.cutResponsesAfter(...cuts)
    const created = await berth.vms.create(await app.given.vmInput())
    expect(attempts.map(({ status, replayed }) => [status, replayed]).at(-1)).toEqual([202, true])
    expect(attempts).toHaveLength(cuts.length + 1)
    expect(new Set(attempts.map(({ key }) => key)).size).toBe(1)
    expect([await vms(), await charges()]).toEqual([1, 1])
    expect(await direct.vms.get(created.vm.id)).toMatchObject({ id: created.vmId, currentAction: { id: created.actionId } })
  })

  test('fails with NetworkError if it has no idempotency key', async () => {
    const { berth, vms } = await customerBehindProxy()
    proxy.cutResponsesAfter(0)
    await expect(berth.vms.create(await app.given.vmInput(), { idempotencyKey: null })).rejects.toBeInstanceOf(NetworkError)
    expect(await vms()).toBe(1)
  })

  test('waits for an earlier attempt that is still being processed', async () => {
    const customer = await app.given.customer()
    const { attempts, handlers } = recordAttempts()
    const { release } = await holdKey(customer.accountId, 'held')
    const berth = app.client(customer, { handlers, sleep: release })
    const key = await berth.sshKeys.create({ name: 'key', publicKey }, { idempotencyKey: 'held' })
    expect(attempts.map(({ status }) => status)).toEqual([409, 201])
    expect(await berth.sshKeys.list().all()).toMatchObject([{ id: key.id }])
  })
})

/** Simulates an attempt in progress on another connection by holding the advisory lock of its key. */
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

test('refused connections are retried', async () => {
  const { berth, direct } = await customerBehindProxy()
  proxy.cutAll()
  proxy.refuseConnections(3)
  await berth.sshKeys.create({ name: 'key', publicKey })
  expect(await direct.sshKeys.list().all()).toHaveLength(1)
})

describe('over the rate limit', () => {
  test('a client waits for Retry-After, and every write takes effect once', async () => {
    const customer = await app.given.customer({ requestsPerMinute: 4 })
    const { attempts, handlers } = recordAttempts()
    const pauses: number[] = []
    const sleep = (ms: number): Promise<void> => {
      pauses.push(ms)
      return app.passTime(ms)
    }
    const berth = app.client(customer, { handlers, sleep })
    for (let i = 0; i < 10; i++) await berth.sshKeys.create({ name: `key ${i}`, publicKey: generateKey().line })
    const limited = attempts.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThanOrEqual(2)
    expect(pauses).toHaveLength(limited.length)
    expect(attempts).toHaveLength(10 + limited.length) // each pause was long enough: no attempt was limited twice
    expect(await berth.sshKeys.list().all()).toHaveLength(10)
  })

  test('a client without retries reports Retry-After', async () => {
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
