import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('a currency is three letters, as they are told everywhere', () => {
  expect(readConfig({ BERTH_CURRENCY: 'eur' }).currency).toBe('EUR')
  for (const wrong of ['', '€', 'EURO']) expect(() => readConfig({ BERTH_CURRENCY: wrong })).toThrow('must be three letters, such as EUR')
})
