// Three years of a thousand VMs: month ends, a leap day, late and missing payments, upgrades, add-ons, VMs shelved and unshelved, deletions, two months without any
// scheduler, three scheduler processes of which one is killed half way. The ledger must equal the model's, entry by entry.
import { expect, test } from 'vitest'
import { expectOnce, expectSameLedger, expectSameVms, playResizes, playYears } from '../../../test/years/simulate.ts'
import { stopwatch } from '../../kernel/clock.ts'

test('three years of 1,000 VMs are charged as the model predicts', async () => {
  const elapsed = stopwatch()
  const played = await playYears({
    from: '2027-12-01T00:00:00.000Z',
    days: 1_096,
    buyingDays: 91,
    accounts: 40,
    vms: 1_000,
    seed: 2_028,
    outageDays: 65,
  })
  expect([played.bought, played.deaths]).toEqual([1_000, 1])
  expect(played.shelved).toBeGreaterThan(100)
  const entries = await expectSameLedger(played)
  await expectSameVms(played)
  const renewals = await expectOnce(played)
  expect(renewals).toBeGreaterThan(20_000)
  console.log(
    `${renewals} renewals, ${entries} entries of the ledger, ${played.times.length} looks at the clock: ${Math.round(elapsed() / 1000)} s`,
  )
}, 1_800_000)

test('a year of VMs that are resized again and again is charged as the model predicts', async () => {
  const { up, down } = await playResizes(366)
  expect(Math.min(up, down)).toBeGreaterThan(15)
}, 600_000)
