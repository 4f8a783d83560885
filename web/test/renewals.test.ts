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
const told = (vms: Renewable[], balance = '0.30') => forecast(vms, { balance }).map((each) => [each.vm.name, each.balance])

test('renewals are foretold in their order, to the cent', () => {
  expect(told([vm('b', 12, 'STOPPED', 'ACTIVE', '0.20'), vm('a', 11), vm('c', 13, 'RUNNING', 'PAST_DUE')])).toEqual([
    ['a', 0.2],
    ['b', 0],
    ['c', -0.1],
  ])
})

test('what is renewed no more costs nothing: unmanaged, suspended by an operator, or never built', () => {
  expect(told([vm('a', 11, 'UNMANAGED'), vm('b', 12, 'SUSPENDED'), vm('c', 13, 'ERROR', 'CANCELLED')])).toEqual([])
})

test('what is suspended because it is unpaid is renewed once there is money', () => {
  expect(told([vm('a', 11, 'SUSPENDED', 'SUSPENDED')])).toEqual([['a', 0.2]])
})
