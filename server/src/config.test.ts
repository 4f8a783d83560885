import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('a currency is three letters, as they are told everywhere', () => {
  expect(readConfig({ BERTH_CURRENCY: 'eur' }).currency).toBe('EUR')
  for (const wrong of ['', '€', 'EURO']) expect(() => readConfig({ BERTH_CURRENCY: wrong })).toThrow('must be three letters, such as EUR')
})

test('ranges that guests may reach are told as ranges', () => {
  expect(readConfig({}).guestAllowedRanges).toEqual([])
  expect(readConfig({ BERTH_GUEST_ALLOWED_RANGES: '10.1.2.3/8, 192.168.1.0/24' }).guestAllowedRanges).toEqual([
    '10.0.0.0/8',
    '192.168.1.0/24',
  ])
  for (const wrong of ['10.0.0.1', 'fd00::/8', '10.0.0.0/33'])
    expect(() => readConfig({ BERTH_GUEST_ALLOWED_RANGES: wrong })).toThrow('must be ranges such as 192.168.1.0/24')
})
