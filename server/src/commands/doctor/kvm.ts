import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { listHosts } from '../../features/hosts/service.ts'
import { domainTypesIn, archIn } from '../../host-setup/facts.ts'
import { withLibvirt } from '../../host-setup/libvirt.ts'
import { ok, warning, type Check, type Finding } from './check.ts'
import { databaseCheck } from './database.ts'

const SLOWER = 'VMs run emulated, slower'

/** Never a failure: without KVM, VMs are emulated. */
export const virtualisation: Check = async (config) => {
  const device = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => 'usable',
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  )
  if (device === 'EACCES') return warning(`this user may not use /dev/kvm: ${SLOWER}`, 'add the user to the group kvm, or run as root')
  if (device !== 'usable') return missingKvm(await cpuSupportsKvm())
  const types = await withLibvirt((libvirt) => libvirt.connect.getCapabilities()).then(
    (xml) => domainTypesIn(xml, archIn(xml)),
    () => null, // the libvirt check reports this
  )
  if (types && !types.includes('kvm')) {
    return warning(`/dev/kvm exists, but QEMU cannot use it: ${SLOWER}`, 'check dmesg | grep -i kvm, then restart libvirtd')
  }
  return kvmProbeResult(config)
}

/** The device alone proves nothing: the driver starts a probe guest with KVM when it first uses a host. */
const kvmProbeResult = databaseCheck('KVM', async (db) => {
  const host = (await listHosts(db)).find(({ uri }) => uri === 'qemu:///system')
  if (!host) return ok('/dev/kvm exists; a probe guest is started when this machine becomes a host')
  if (host.acceleration === 'kvm') return ok('KVM: VMs run with hardware virtualisation')
  return warning(
    `/dev/kvm exists, but no guest starts with it: ${SLOWER}`,
    'if this machine is itself a VM, enable nested virtualisation on its host',
  )
})

/** /proc/cpuinfo has no flag for virtualisation on ARM. */
export async function cpuSupportsKvm(): Promise<boolean | null> {
  if (process.arch === 'arm64') return null
  return /\b(vmx|svm)\b/.test(await readFile('/proc/cpuinfo', 'utf8'))
}

export function missingKvm(cpu: boolean | null): Finding {
  const nested = 'enable virtualisation in the firmware, or nested virtualisation if this machine is itself a VM'
  if (cpu === true)
    return warning(
      `the CPU supports virtualisation, but /dev/kvm does not exist: ${SLOWER}`,
      'load the module: modprobe kvm_intel or kvm_amd',
    )
  if (cpu === false) return warning(`no KVM: the CPU does not support it: ${SLOWER}`, nested)
  return warning(`no KVM: /dev/kvm does not exist: ${SLOWER}`, `use a kernel with KVM; ${nested}`)
}
