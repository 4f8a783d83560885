import { expect, test } from 'vitest'
import { counted } from './counted.ts'

test('one is no plural, and none is', () => {
  expect([0, 1, 2].map((count) => counted(count, 'VM'))).toEqual(['0 VMs', '1 VM', '2 VMs'])
  expect([1, 2].map((count) => counted(count, 'address', 'addresses'))).toEqual(['1 address', '2 addresses'])
})
