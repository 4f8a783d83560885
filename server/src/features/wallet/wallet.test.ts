import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { getWallet } from './service.ts'

const app = await testApp()

describe('GET /wallet', () => {
  test('shows 0.00 for an account without deposits', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.get('/wallet')
    expect([status, body.data]).toEqual([200, { balance: '0.00', currency: 'USD', dueNext7Days: '0.00', daysLeft: null }])
  })

  test('shows the balance', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    expect((await customer.get('/wallet')).body.data).toMatchObject({ balance: '100.00', daysLeft: null })
  })

  test.each([
    [3_000n, 10],
    [7_000n, 4],
    [60_000n, 0],
  ])('estimates that 10.00 lasts at %s cents a month for %s days', async (monthly, daysLeft) => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const renewals = async (_: Queries, now: Date, id: string) => {
      expect([now, id]).toEqual([app.clock.now(), accountId])
      return { dueNext7Days: 360n, monthly }
    }
    const wallet = await getWallet(app.db, app.clock.now(), accountId, 'EUR', renewals)
    expect(wallet).toEqual({ balance: '10.00', currency: 'EUR', dueNext7Days: '3.60', daysLeft })
  })

  test('requires the scope wallet:read', async () => {
    const customer = await app.given.customer({ scopes: ['account:read'] })
    expect((await customer.get('/wallet')).body.error).toBe('This token lacks the required scope: wallet:read')
    expect((await customer.get('/wallet/transactions')).status).toBe(403)
  })
})
