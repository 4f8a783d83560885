// Without systemd, as in most containers, libvirt cannot use cgroups or remember file owners (xattr), so both are disabled. Guests run as users
// of their own (hypervisor/libvirt/core/guest-user.ts), which have one group: it must be that of /dev/kvm, which libvirt then also gives its
// folders. Debian's default group is another.
import { readFile } from 'node:fs/promises'
import { kvmGroup } from './kvm-device.ts'
import { isPrepared, QEMU_PKI } from './migration.ts'
import { conflicts, isSet, set, type Settings } from './managed-block.ts'
import { missing, satisfied, type HostPlan, type Step } from './setup-step.ts'

export const QEMU_CONF = '/etc/libvirt/qemu.conf'
const WITHOUT_SYSTEMD: Settings = { cgroup_controllers: [], remember_owner: 0 }
const KVM_GROUP: Settings = { group: 'kvm' }
const MIGRATION: Settings = { migrate_tls_x509_cert_dir: QEMU_PKI, migrate_tls_x509_verify: 1 }

/** A group that the operator has set stays. */
export const qemuSettings = (text: string, { systemd, hasKvmGroup }: { systemd: boolean; hasKvmGroup: boolean }): Settings => ({
  ...(!systemd && WITHOUT_SYSTEMD),
  ...(hasKvmGroup && conflicts(text, KVM_GROUP).length === 0 && KVM_GROUP),
  ...tpmGroup(text, hasKvmGroup),
})

/** The folder with the sockets of TPM emulators has this group, so it must be that of QEMU. */
function tpmGroup(text: string, hasKvmGroup: boolean): Settings {
  const group = /^\s*group\s*=\s*"([^"]+)"/m.exec(text)?.[1] ?? (hasKvmGroup ? 'kvm' : undefined)
  if (group === undefined) return {}
  const settings = { swtpm_group: group }
  return conflicts(text, settings).length === 0 ? settings : {}
}

const settingsFor = async ({ systemd, bundle }: HostPlan): Promise<Settings> => ({
  ...qemuSettings(await readFile(QEMU_CONF, 'utf8').catch(() => ''), { systemd, hasKvmGroup: (await kvmGroup()) !== null }),
  ...((bundle?.peers || (await isPrepared())) && MIGRATION),
})

export const qemuConf: Step = {
  name: 'qemu.conf',
  async check(plan) {
    const settings = await settingsFor(plan)
    const names = Object.keys(settings)
    if (names.length === 0) return satisfied('QEMU uses the default settings of its packages')
    return (await isSet(QEMU_CONF, settings))
      ? satisfied(`QEMU runs with ${names.join(', ')} as Berth needs`)
      : missing(`settings in ${QEMU_CONF}: ${names.join(', ')}`)
  },
  apply: async (plan) => set(QEMU_CONF, await settingsFor(plan), 0o600),
}
