import { expect, test } from 'vitest'
import { withSettings } from './managed-block.ts'
import { qemuSettings } from './qemu-conf.ts'

test('QEMU gets the group of /dev/kvm, unless there is none or the operator has set another', () => {
  const given = { systemd: true, hasKvmGroup: true }
  expect(qemuSettings('', given)).toEqual({ group: 'kvm' })
  expect(qemuSettings('group = "kvm"\n', given)).toEqual({ group: 'kvm' })
  expect(qemuSettings(withSettings('', { group: 'kvm' }), given)).toEqual({ group: 'kvm' })
  expect(qemuSettings('group = "root"\n', given)).toEqual({})
  expect(qemuSettings('', { systemd: true, hasKvmGroup: false })).toEqual({})
  expect(qemuSettings('', { systemd: false, hasKvmGroup: true })).toEqual({ cgroup_controllers: [], remember_owner: 0, group: 'kvm' })
})
