import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'

/** Calendar months computed independently of the code under test. */
function calendar(bought: string, until: string): string[] {
  const [year, month, day, time] = [Number(bought.slice(0, 4)), Number(bought.slice(5, 7)), Number(bought.slice(8, 10)), bought.slice(10)]
  const isLeap = (y: number) => (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0
  const lengths = (y: number) => [31, isLeap(y) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  const dates: string[] = []
  for (let k = 1; ; k++) {
    const [y, m] = [year + Math.floor((month - 1 + k) / 12), (month - 1 + k) % 12]
    const date = `${y}-${String(m + 1).padStart(2, '0')}-${String(Math.min(day, lengths(y)[m]!)).padStart(2, '0')}${time}`
    dates.push(date)
    if (date > until) return dates
  }
}

describe('a year and more of renewals', async () => {
  const app = await testApp()
  const { pass, renewalsOf, vm } = await billingFixture(app)

  test('charges every VM on its own day, across month ends and a leap day', async () => {
    const bought = [
      '2027-01-28T23:59:59.999Z',
      '2027-01-29T00:00:00.000Z',
      '2027-01-30T12:00:00.000Z',
      '2027-01-31T23:00:00.000Z',
      '2027-03-31T06:00:00.000Z',
      '2027-05-01T00:00:00.000Z',
      '2027-12-31T23:59:00.000Z',
      '2028-02-29T08:00:00.000Z',
    ]
    const until = '2029-03-05T00:00:00.000Z'
    app.clock.set(new Date('2027-01-28T00:00:00Z'))
    const customer = await app.given.customer({ credit: '10000.00' })
    const ids = new Map<string, string>()
    const passTime = async (to: string) => {
      while (app.clock.now().toISOString() < to) {
        const step = new Date(Math.min(app.clock.now().getTime() + 17 * 3_600_000, Date.parse(to)))
        app.clock.set(step)
        await pass()
      }
    }
    for (const at of bought) {
      await passTime(at)
      ids.set(at, (await app.given.vm(customer, { hostname: `vm-${ids.size}` })).id)
    }
    await passTime(until)

    for (const at of bought) {
      const [id, expected] = [ids.get(at)!, calendar(at, until)]
      const charged = await renewalsOf(customer, id)
      const days = expected.map((date) => date.slice(0, 10))
      expect(charged.map((each) => each['description'])).toEqual(
        days.slice(0, -1).map((from, i) => `Renewal of vm-${bought.indexOf(at)} from ${from} to ${days[i + 1]}`),
      )
      expect(charged.every((each) => each['amount'] === '-6.00')).toBe(true)
      expect((await vm(customer, id)).billing.nextRenewalAt).toBe(expected.at(-1))
    }
    const { body } = await customer.get('/wallet/transactions?limit=1')
    const months = bought.reduce((sum, at) => sum + calendar(at, until).length, 0)
    expect(body.data[0].balanceAfter).toBe((10_000 - 6 * months).toFixed(2))
  }, 60_000)
})
