// Without systemd, as in most containers, libvirt cannot use cgroups or remember file owners (xattr), so both are disabled.
import { isSet, set, type Settings } from './managed-block.ts'
import { missing, satisfied, type Step } from './setup-step.ts'

export const QEMU_CONF = '/etc/libvirt/qemu.conf'
const WITHOUT_SYSTEMD: Settings = { cgroup_controllers: [], remember_owner: 0 }

export const qemuConf: Step = {
  name: 'qemu.conf',
  async check({ systemd }) {
    if (systemd) return satisfied('QEMU uses the default settings of its packages')
    return (await isSet(QEMU_CONF, WITHOUT_SYSTEMD))
      ? satisfied('QEMU runs without cgroups')
      : missing(`settings in ${QEMU_CONF}: no cgroups here`)
  },
  apply: () => set(QEMU_CONF, WITHOUT_SYSTEMD, 0o600),
}
