// A thousand events for twenty receivers that fail 30 % of requests, while workers are killed twenty times: every delivery arrives at
// least once or is exhausted, and a crash causes few duplicates. A hanging receiver does not delay the others.
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { answer, halfBody, hang, receiver, reset, type Behave, type Received } from '../../../test/receiver.ts'
import { eventually, service, type Service } from '../../../test/processes.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'

const KILLS = 20
const EVENTS_PER_KILL = 50
const RECEIVERS = 20
const ALL = KILLS * EVENTS_PER_KILL * RECEIVERS

const app = await webhookApp({ outbound: { timeoutMs: 1_000 } })

const worker = (): Promise<Service> =>
  service(
    {
      BERTH_DATABASE_URL: app.db.url,
      BERTH_DATA_DIR: app.config.dataDir,
      BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
      BERTH_METRICS_PORT: '0',
      BERTH_LOG_FORMAT: 'json',
      BERTH_HYPERVISOR: 'simulated',
    },
    'worker',
  )

const FAILURES: Behave[] = [answer(500), answer(503, {}, 'busy'), reset, halfBody, answer(307, { location: 'http://127.0.0.1:1/' })]
let hangs = 10 // each holds its slot for 15 seconds

/** Fails 30 % of requests; records the accepted messages. */
async function flakyReceiver() {
  const taken: string[] = []
  const target = await receiver((response, request, count) => {
    const roll = Math.random()
    if (roll < 0.01 && hangs-- > 0) return hang(response, request, count)
    if (roll < 0.3) return FAILURES[Math.floor(roll * 1_000) % FAILURES.length]!(response, request, count)
    taken.push(request.headers['webhook-id']!)
    return answer(200)(response, request, count)
  })
  return { ...target, taken }
}

const isGenuine = (secret: string, { headers, body }: Received): boolean => {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  return headers['webhook-signature'] === new Webhook(secret).sign(headers['webhook-id']!, at, body)
}

describe('deliveries', () => {
  test(`survive ${KILLS} worker crashes`, { timeout: 900_000 }, async () => {
    const customer = await app.given.customer()
    const targets: (Awaited<ReturnType<typeof flakyReceiver>> & { secret: string })[] = []
    for (let i = 0; i < RECEIVERS; i++) {
      const target = await flakyReceiver()
      targets.push({ ...target, ...(await app.subscribe(customer, target.url)) })
    }
    const receivedTimes = (): number => targets.reduce((sum, { received }) => sum + received.length, 0)

    const workers = [await worker(), await worker()]
    for (let kill = 0; kill < KILLS; kill++) {
      const before = receivedTimes()
      app.clock.set(new Date())
      for (let i = 0; i < EVENTS_PER_KILL; i++) await app.happen(customer)
      await eventually(async () => receivedTimes() > before + (EVENTS_PER_KILL * RECEIVERS) / 4, 60_000)
      await workers.shift()!.kill('SIGKILL')
      workers.push(await worker())
    }
    const waiting = () =>
      app.db.one<{ count: number }>(sql`
        select count(*)::int as count from webhook_deliveries where status = 'PENDING' and attempts = 0`)
    await eventually(async () => (await waiting()).count === 0, 120_000)
    await Promise.all(workers.map((each) => each.kill('SIGTERM')))

    app.clock.set(new Date())
    for (const wait of ['1m', '6m', '36m', '3h', '6h', '12h', '12h']) {
      app.clock.advance(wait)
      await app.deliver()
    }
    const byStatus = await app.db.many<{ status: string; least: number; count: number }>(sql`
      select status, min(attempts) as least, count(*)::int as count from webhook_deliveries group by status order by status`)
    const succeeded = byStatus.find(({ status }) => status === 'SUCCEEDED')!.count
    const exhausted = byStatus.find(({ status }) => status === 'EXHAUSTED')
    expect(succeeded + (exhausted?.count ?? 0)).toBe(ALL)
    expect(exhausted?.least ?? 8).toBe(8)

    const taken = targets.flatMap((target) => target.taken)
    expect(new Set(taken).size).toBeGreaterThanOrEqual(succeeded)
    const duplicates = taken.length - new Set(taken).size
    console.log(`${ALL} deliveries, ${receivedTimes()} requests, ${exhausted?.count ?? 0} exhausted, ${duplicates} duplicates`)
    expect(duplicates / ALL).toBeLessThanOrEqual(0.02)
    for (const { secret, received } of targets) expect(received.filter((request) => !isGenuine(secret, request))).toEqual([])
  })

  test('to other receivers are not delayed by one that hangs, in a burst', { timeout: 300_000 }, async () => {
    const alone = await worker()
    const [beside, without]: [number[], number[]] = [[], []]
    for (let round = 0; round <= ROUNDS; round++) {
      const [none, one] = [await burst(false), await burst(true)]
      if (round === 0) continue // warm-up: compiled code, warm caches
      without.push(none)
      beside.push(one)
    }
    await alone.kill('SIGTERM')
    console.log(
      `95 % of ${BURST * (RECEIVERS - 1)} deliveries within ${beside.join(', ')} ms beside one that hangs, ${without.join(', ')} ms when none does`,
    )
    expect(Math.max(...beside)).toBeLessThanOrEqual(2_000)
    expect(sum(beside)).toBeLessThanOrEqual(sum(without) * 1.2)
  })
})

const ROUNDS = 8
const BURST = 200

/** Records a burst of events for healthy receivers, optionally with one that hangs; returns the 95th percentile of delivery time. */
async function burst(oneHangs: boolean): Promise<number> {
  const customer = await app.given.customer()
  const latenciesMs: number[] = []
  const hanging = oneHangs ? await app.subscribe(customer, (await receiver(hang)).url) : null
  for (let i = 1; i < RECEIVERS; i++) {
    const target = await receiver((response, request, count) => {
      const { timestamp } = JSON.parse(request.body) as { timestamp: string }
      latenciesMs.push(Date.now() - Date.parse(timestamp))
      return answer(200)(response, request, count)
    })
    await app.subscribe(customer, target.url)
  }
  for (let i = 0; i < BURST; i++) {
    app.clock.set(new Date())
    await app.happen(customer)
  }
  await eventually(async () => latenciesMs.length >= BURST * (RECEIVERS - 1), 60_000)
  if (hanging) await customer.delete(`/webhooks/${hanging.id}`)
  return latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * 0.95)]!
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
