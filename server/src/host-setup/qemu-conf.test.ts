import { expect, test } from 'vitest'
import { withSettings } from './managed-block.ts'
import { qemuSettings } from './qemu-conf.ts'

const KVM = { group: 'kvm', swtpm_group: 'kvm' }

test('QEMU gets the group of /dev/kvm, unless there is none or the operator has set another', () => {
  const given = { systemd: true, hasKvmGroup: true }
  expect(qemuSettings('', given)).toEqual(KVM)
  expect(qemuSettings('group = "kvm"\n', given)).toEqual(KVM)
  expect(qemuSettings(withSettings('', KVM), given)).toEqual(KVM)
  expect(qemuSettings('group = "root"\n', given)).toEqual({ swtpm_group: 'root' })
  expect(qemuSettings('group = "root"\nswtpm_group = "tss"\n', given)).toEqual({})
  expect(qemuSettings('', { systemd: true, hasKvmGroup: false })).toEqual({})
  expect(qemuSettings('', { systemd: false, hasKvmGroup: true })).toEqual({ cgroup_controllers: [], remember_owner: 0, ...KVM })
})
