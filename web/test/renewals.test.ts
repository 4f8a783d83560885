import { expect, test } from 'vitest'
import { forecast, type Renewable } from '../src/screens/wallet/renewals.ts'

type Status = Renewable['status']
type Paid = Renewable['billing']['status']

const vm = (name: string, day: number, status: Status = 'RUNNING', billing: Paid = 'ACTIVE', priceMonthly = '0.10'): Renewable => ({
  id: name,
  name,
  status,
  billing: { status: billing, nextRenewalAt: `2026-12-${day}T00:00:00.000Z`, priceMonthly },
})
const summarize = (vms: Renewable[], balance = '0.30') => forecast(vms, { balance }).map((each) => [each.vm.name, each.balance])

test('the forecast lists renewals by date, to the cent', () => {
  expect(summarize([vm('b', 12, 'STOPPED', 'ACTIVE', '0.20'), vm('a', 11), vm('c', 13, 'RUNNING', 'PAST_DUE')])).toEqual([
    ['a', 0.2],
    ['b', 0],
    ['c', -0.1],
  ])
})

test('unmanaged, operator-suspended and failed VMs are not renewed', () => {
  expect(summarize([vm('a', 11, 'UNMANAGED'), vm('b', 12, 'SUSPENDED'), vm('c', 13, 'ERROR', 'CANCELLED')])).toEqual([])
})

test('a VM suspended for non-payment is renewed once the balance covers it', () => {
  expect(summarize([vm('a', 11, 'SUSPENDED', 'SUSPENDED')])).toEqual([['a', 0.2]])
})
