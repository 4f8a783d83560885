import { expect, test } from 'vitest'
import { expectOnce, expectSameLedger, expectSameVms, playResizes, playYears } from '../../../test/years/simulate.ts'

test('40 days of 12 VMs with three schedulers, one killed, are charged as the model predicts', async () => {
  const played = await playYears({
    from: '2028-01-20T00:00:00.000Z',
    days: 40,
    buyingDays: 8,
    accounts: 4,
    vms: 12,
    seed: 7,
    outageDays: 0,
  })
  expect(played.deaths).toBe(1)
  expect(played.shelved).toBeGreaterThan(4)
  expect(await expectSameLedger(played)).toBeGreaterThan(25)
  await expectSameVms(played)
  expect(await expectOnce(played)).toBeGreaterThan(8)
}, 300_000)

test('VMs that are resized up and down again and again are charged as the model predicts', async () => {
  const { up, down } = await playResizes(40)
  expect(Math.min(up, down)).toBeGreaterThan(0)
}, 300_000)
