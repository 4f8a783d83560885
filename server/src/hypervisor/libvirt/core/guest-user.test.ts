import { expect, test } from 'vitest'
import { guestUid, seclabelXml } from './guest-user.ts'

test('every VM has a user of its own, in the reserved range, and the same one each time', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => `cvm${i}`)
  const uids = ids.map(guestUid)
  expect(new Set(uids).size).toBe(1000)
  expect(uids.every((uid) => uid >= 0x70000000 && uid < 0x7fffffff)).toBe(true)
  expect(ids.map(guestUid)).toEqual(uids)
})

test('a host that cannot start QEMU as another user gets no label', () => {
  expect(seclabelXml('cvm', null)).toBeNull()
  expect(seclabelXml('cvm', 109)?.xml).toBe(
    `<seclabel type='static' model='dac' relabel='yes'><label>+${guestUid('cvm')}:+109</label></seclabel>`,
  )
})
