// Property: while customers change their subscriptions, every event has exactly its expected deliveries, and each of them ends delivered
// (at least once, under one id), exhausted or cancelled.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answer, halfBody, receiver, reset, verified, type Behave, type Received } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'

const app = await webhookApp({ outbound: { timeoutMs: 2_000 } })
const FAILURES: Behave[] = [answer(500), answer(302, { location: 'http://127.0.0.1:1/' }), reset, halfBody]
const NAMES = ['vm.created', 'vm.started', 'vm.stopped'] as const

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('happen' as const), type: fc.constantFrom(...NAMES, 'vm.upgraded') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('subscribe' as const), events: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), which: fc.nat(), isActive: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('deliver' as const) }) },
)

interface Subscription {
  id: string
  secret: string
  events: string[]
  isActive: boolean
  wanted: number
}

test('deliveries equal events × subscriptions under random changes', { timeout: 120_000 }, async () => {
  const failures = fc.infiniteStream(fc.nat({ max: 99 }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), failures, async (steps, dice) => {
      const customer = await app.given.customer()
      // 30 % of requests fail, in different ways.
      const target = await receiver((response, request, count) => {
        const roll = dice.next().value!
        return (roll < 30 ? FAILURES[roll % FAILURES.length]! : answer(200))(response, request, count)
      })
      const live: Subscription[] = []
      const secrets = new Map<string, string>()
      for (const each of steps) {
        if (each.do === 'happen') {
          await app.happen(customer, each.type)
          for (const subscription of live) if (subscription.isActive && subscription.events.includes(each.type)) subscription.wanted++
        } else if (each.do === 'subscribe' && live.length < 20) {
          const { id, secret } = await app.subscribe(customer, target.url.replace('hook', `hook/${secrets.size}`), each.events)
          secrets.set(`/hook/${secrets.size}`, secret)
          live.push({ id, secret, events: each.events, isActive: true, wanted: 0 })
        } else if (each.do === 'toggle' && live.length > 0) {
          const subscription = live[each.which % live.length]!
          await customer.patch(`/webhooks/${subscription.id}`, { isActive: each.isActive })
          subscription.isActive = each.isActive
        } else if (each.do === 'delete' && live.length > 0) {
          const [gone] = live.splice(each.which % live.length, 1)
          await customer.delete(`/webhooks/${gone!.id}`)
        } else if (each.do === 'deliver') await app.deliver()
      }
      for (const wait of ['1s', '6s', '6m', '36m', '3h', '6h', '12h', '12h']) {
        app.clock.advance(wait)
        await app.deliver()
      }
      for (const { id, wanted } of live) {
        const log = (await app.deliveriesOf(customer, id, '?limit=100')) as { id: string; status: string; attempts: number }[]
        expect(log).toHaveLength(wanted)
        expect(log.filter(({ status }) => status === 'PENDING')).toEqual([])
        const succeeded = log.filter(({ status }) => status === 'SUCCEEDED')
        expect(succeeded.map((delivery) => sentTimes(target.received, delivery.id))).toEqual(succeeded.map(({ attempts }) => attempts))
      }
      app.clock.set(new Date()) // the library compares timestamps with real time
      for (const request of target.received.filter(({ headers }) => isRecent(headers))) verified(secrets.get(request.path)!, request)
    }),
    { numRuns: 12 },
  )
})

const sentTimes = (received: Received[], id: string): number => received.filter(({ headers }) => headers['webhook-id'] === id).length

const isRecent = (headers: Record<string, string>): boolean => Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 200
