import { expect, test } from 'vitest'
import { expectOnce, expectSameLedger, expectSameVms, playResizes, playYears } from '../../../test/years/simulate.ts'

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

test('VMs that are resized up and down again and again are charged as the model predicts', async () => {
  const { up, down } = await playResizes(90)
  expect(Math.min(up, down)).toBeGreaterThan(3)
}, 300_000)
