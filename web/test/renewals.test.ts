import type { VmListItem } from '@berth/sdk'
import { expect, test } from 'vitest'
import { isRenewed } from '@berth/sdk'
import { forecast, type Renewable } from '../src/screens/wallet/renewals.ts'

const paid = (name: string, kind: Renewable['kind'], day: number, priceMonthly = '0.10'): Renewable => ({
  id: name,
  name,
  kind,
  billing: { nextRenewalAt: `2026-12-${day}T00:00:00.000Z`, priceMonthly },
})

test('the forecast lists renewals by date, to the cent', () => {
  const items = [paid('b', 'volume', 12, '0.20'), paid('a', 'vm', 11), paid('c', 'image', 13)]
  expect(forecast(items, { balance: '0.30' }).map(({ item, balance }) => [item.name, balance])).toEqual([
    ['a', 0.2],
    ['b', 0],
    ['c', -0.1],
  ])
})

test('unmanaged, operator-suspended and failed VMs are not renewed, unpaid ones are once the balance covers it', () => {
  const is = (status: VmListItem['status'], billing: VmListItem['billing']['status']) =>
    isRenewed({ status, billing: { status: billing, nextRenewalAt: '', priceMonthly: '' } })
  expect([is('UNMANAGED', 'ACTIVE'), is('SUSPENDED', 'ACTIVE'), is('ERROR', 'CANCELLED')]).toEqual([false, false, false])
  expect([is('RUNNING', 'PAST_DUE'), is('STOPPED', 'ACTIVE'), is('SUSPENDED', 'SUSPENDED')]).toEqual([true, true, true])
})
