import { expect, test } from 'vitest'
import { sql } from '../../kernel/database/db.ts'
import { expectOnce, expectSameLedger, expectSameVms, playYears } from '../../../test/years/simulate.ts'

test('60 days of 20 VMs with three schedulers, one killed, are charged as the model predicts', async () => {
  const played = await playYears({
    from: '2028-01-20T00:00:00.000Z',
    days: 60,
    buyingDays: 12,
    accounts: 4,
    vms: 20,
    seed: 7,
    outageDays: 0,
  })
  expect(played.deaths).toBe(1)
  expect(played.shelved).toBeGreaterThan(10)
  expect(await expectSameLedger(played)).toBeGreaterThan(50)
  await expectSameVms(played)
  expect(await expectOnce(played)).toBeGreaterThan(15)
}, 300_000)

test('a year of VMs that are resized up and down again and again is charged as the model predicts', async () => {
  const played = await playYears({
    from: '2028-01-20T00:00:00.000Z',
    days: 366,
    buyingDays: 20,
    accounts: 4,
    vms: 12,
    seed: 71,
    outageDays: 0,
    resizes: 0.7,
  })
  expect(await expectSameLedger(played)).toBeGreaterThan(150)
  await expectSameVms(played)
  await expectOnce(played)
  const { up, down } = await played.app.db.one<Record<'up' | 'down', number>>(sql`
    select count(*) filter (where type = 'VM_UPGRADE')::int as up, count(*) filter (where type = 'VM_REFUND' and description like '%resize%')::int as down
    from wallet_transactions`)
  expect([up, down].map((count) => count > 15)).toEqual([true, true])
  await played.app.checkInvariants()
}, 600_000)
