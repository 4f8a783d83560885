import { expect, test } from 'vitest'
import { isOpenToQemu } from './kvm-device.ts'

const KVM = 108

test.each([
  { what: 'as udev leaves it', mode: 0o660, gid: KVM, group: KVM, open: true },
  { what: 'open to everyone', mode: 0o666, gid: 0, group: KVM, open: true },
  { what: 'as a container has it', mode: 0o600, gid: 0, group: KVM, open: false },
  { what: 'of another group', mode: 0o660, gid: 0, group: KVM, open: false },
  { what: 'of the group, but not for it', mode: 0o600, gid: KVM, group: KVM, open: false },
  { what: 'on a machine without the group', mode: 0o600, gid: 0, group: null, open: true },
])('/dev/kvm $what: QEMU may open it: $open', ({ mode, gid, group, open }) => {
  expect(isOpenToQemu({ mode: 0o020000 | mode, gid }, group)).toBe(open)
})
