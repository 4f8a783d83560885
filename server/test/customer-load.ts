// Customers at work while something happens to the product: they order VMs, pay, read, and follow their events. Of every request is known
// what became of it, and what was acknowledged is looked for in the end.
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { Berth } from '../../sdk/src/index.ts'
import { confirmPayment } from '../src/features/payments/service.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { ApiError } from '../src/kernel/errors.ts'
import type { Fleet } from './fleet.ts'
import { eventually } from './processes.ts'
import { receiver } from './receiver.ts'

export const CLIENTS = 4
const WITHIN_MS = 300_000

const isIn = (ids: string[], all: Set<string>): boolean => ids.every((id) => all.has(id))

export interface CustomerLoad {
  /** Of everything that was acknowledged: the VM by the key of its order. */
  acknowledged: ReadonlyMap<string, string>
  requests: () => number
  /** Requests without an answer, or with another than they should have. */
  failures: readonly string[]
  /** Why the event stream was opened again, each time. */
  reconnects: readonly string[]
  sinceAcknowledgedMs(): number
  /** Since the last call of `resetGap`. */
  longestGapMs(): number
  resetGap(): void
  stop(): Promise<unknown>
  /** Ends the load and expects everything once; returns how often webhooks arrived more than once. */
  requireNothingLost(): Promise<number>
}

/** `everyMs`: of each client. `timeoutMs`: of an order. `reads`: there are also clients that read, wait for actions, and open the dashboard. */
export async function startCustomerLoad(
  product: Fleet,
  baseUrl: string,
  { everyMs = 200, timeoutMs = 10_000, reads = false } = {},
): Promise<CustomerLoad> {
  const { db } = product
  const acknowledged = new Map<string, string>()
  const paid = new Set<string>()
  const streamed: string[] = []
  const reconnects: string[] = []
  const failures: string[] = []
  const stopping = new AbortController()
  const streaming = new AbortController()
  let requests = 0
  let sinceAcknowledged = stopwatch()
  let longestGapMs = 0
  const hook = await receiver()
  const { token, accountId } = await product.account(100_000_000n)

  const countedFetch: typeof fetch = async (input, init) => {
    requests++
    const what = `${new Date().toISOString()} ${init?.method} ${(input as string).replace(/.*\/v1/, '')}`
    try {
      const response = await fetch(input, init)
      const { ok, status, statusText, headers } = response
      if (ok && headers.get('content-type')?.startsWith('text/event-stream')) return response
      const text = await response.text() // a truncated one is none
      if (!ok) failures.push(`${what}: ${status} ${text}`)
      return new Response(text || null, { status, statusText, headers })
    } catch (error) {
      if (!streaming.signal.aborted) failures.push(`${what}: ${inspect(error)}`)
      throw error
    }
  }
  const berth = new Berth({ baseUrl, token, fetch: countedFetch })
  await eventually(
    () =>
      berth.account.get({ maxRetries: 0 }).then(
        () => true,
        () => false,
      ),
    WITHIN_MS,
  )
  await berth.webhooks.create({ url: hook.url, events: ['vm.provisioning'] })
  ;[requests, failures.length] = [0, 0] // those of the start
  const input = await db.one<{ regionId: string; osTemplateId: string; planId: string }>(sql`
    select (select id from regions where slug = 'fra1') as "regionId", (select id from os_templates where slug = 'debian-12') as "osTemplateId",
      (select id from plans where slug = 'nano') as "planId"`)

  /** Repeats what nobody answered, or a server in trouble, until it is acknowledged; undefined at the end of the load. */
  async function acknowledge<T>(send: () => Promise<T>): Promise<T | undefined> {
    while (!stopping.signal.aborted) {
      try {
        const answer = await send()
        longestGapMs = Math.max(longestGapMs, sinceAcknowledged())
        sinceAcknowledged = stopwatch()
        return answer
      } catch (error) {
        const { status } = error as { status?: number }
        if (status !== undefined && status < 500 && status !== 409) throw error
        await sleep(100)
      }
    }
    return undefined
  }
  const once = (key: string) => ({ idempotencyKey: key, timeoutMs, maxRetries: 0 })

  const order = async (_: unknown, number: number): Promise<void> => {
    for (let i = 0; !stopping.signal.aborted; i++) {
      const key = `client-${number}-${i}`
      const ordered = await acknowledge(() => berth.vms.create({ ...input, hostname: key }, once(key)))
      if (ordered) acknowledged.set(key, ordered.vm.id)
      await sleep(everyMs)
    }
  }
  const confirm = (id: string) => db.tx((tx) => confirmPayment(tx, product.core.deps, id, null)).then(() => true)
  const unlessPaid = (error: unknown): boolean => {
    if (error instanceof ApiError && error.code === 'invalid_state') return true
    throw error
  }
  const pay = async (): Promise<void> => {
    for (let i = 0; !stopping.signal.aborted; i++) {
      const deposit = await acknowledge(() => berth.deposits.create({ amount: '5.00' }, once(`deposit-${i}`)))
      // A repetition finds it in the wallet already.
      const confirmed = deposit && (await acknowledge(() => confirm(deposit.id).catch(unlessPaid)))
      if (confirmed) paid.add(deposit.id)
      await sleep(500)
    }
  }
  /** The page, and what it refers to. */
  const visit = async (): Promise<unknown> => {
    const page = await (await countedFetch(`${baseUrl}/`, { method: 'GET', headers: { accept: 'text/html' } })).text()
    const script = /src="(\/assets\/[^"]+)"/.exec(page)?.[1]
    return script ? countedFetch(`${baseUrl}${script}`, { method: 'GET' }) : failures.push(`no dashboard: ${page}`)
  }
  const read = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await acknowledge(() => Promise.all([berth.vms.list({ limit: 5 }).page(), berth.wallet.get(), visit()]))
      await sleep(everyMs / 4)
    }
  }
  /** One VM after another: the next when the last one runs. */
  const wait = async (number: number): Promise<void> => {
    for (let i = 0; !stopping.signal.aborted; i++) {
      const key = `patient-${number}-${i}`
      const ordered = await acknowledge(() => berth.vms.create({ ...input, hostname: key }, once(key)))
      if (!ordered) return
      acknowledged.set(key, ordered.vm.id)
      await berth.waitForAction(ordered, { maxRetries: Infinity })
    }
  }
  const stream = async (): Promise<void> => {
    const options = { after: '0', signal: streaming.signal, onReconnect: (reason: Error) => void reconnects.push(reason.message) }
    for await (const { id } of berth.events.stream(options)) streamed.push(id)
  }
  const orders = Promise.allSettled([pay(), ...Array.from({ length: CLIENTS }, order), ...(reads ? [read(), wait(0), wait(1)] : [])])
  const follower = stream().catch(() => undefined)

  const stop = async (): Promise<void> => {
    stopping.abort()
    streaming.abort()
    await Promise.all([orders, follower])
  }
  return {
    acknowledged,
    requests: () => requests,
    failures,
    reconnects,
    sinceAcknowledgedMs: () => sinceAcknowledged(),
    longestGapMs: () => Math.max(longestGapMs, sinceAcknowledged()),
    resetGap: () => void (longestGapMs = 0),
    stop,

    async requireNothingLost() {
      stopping.abort()
      for (const outcome of await orders) if (outcome.status === 'rejected') throw outcome.reason
      const keys = [...acknowledged.keys()]
      await product.ended(WITHIN_MS)
      const vms = await db.many<{ id: string; hostname: string }>(sql`select id, hostname from vms where account_id = ${accountId}`)
      expect(new Set(vms.map(({ hostname }) => hostname)).size).toBe(vms.length)
      const byKey = new Map(vms.map(({ id, hostname }) => [hostname, id]))
      expect(keys.filter((key) => byKey.get(key) !== acknowledged.get(key))).toEqual([])
      const charges = await db.one<{ count: number }>(
        sql`select count(*)::int as count from wallet_transactions where account_id = ${accountId} and type = 'VM_CHARGE'`,
      )
      expect(charges.count).toBe(vms.length)
      const deposits = await db.many<{ id: string }>(
        sql`select reference_id as id from wallet_transactions where account_id = ${accountId} and type = 'DEPOSIT'`,
      )
      expect(new Set(deposits.map(({ id }) => id)).size).toBe(deposits.length)
      expect([...paid].filter((id) => !deposits.some((deposit) => deposit.id === id))).toEqual([])
      const listed = () =>
        db.many<{ id: string; type: string }>(sql`select id, type from events where account_id = ${accountId} order by number`)
      await eventually(async () => streamed.length >= (await listed()).length, WITHIN_MS)
      const events = await listed()
      await stop()
      expect(streamed).toEqual(events.map(({ id }) => id))
      const sent = events.filter(({ type }) => type === 'vm.provisioning').map(({ id }) => id)
      const received = () => hook.received.map(({ body }) => (JSON.parse(body) as { id: string }).id)
      await eventually(async () => isIn(sent, new Set(received())), WITHIN_MS)
      const repeated = received().length - new Set(received()).size
      console.log(
        `${requests} requests, ${keys.length} VMs, ${paid.size} payments, ${events.length} events streamed with ${reconnects.length} reconnects, ` +
          `${sent.length} webhooks of which ${repeated} arrived again`,
      )
      expect(await product.broken()).toBe('')
      return repeated
    },
  }
}
