import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { listHosts } from '../../features/hosts/service.ts'
import { domainTypesIn, archIn } from '../../host-setup/facts.ts'
import { withLibvirt } from '../../host-setup/libvirt.ts'
import { ok, warning, type Check, type Finding } from './check.ts'
import { look } from './database.ts'

const SLOWER = 'VMs run emulated, slower'

/** Only information: without it VMs run, but are emulated. */
export const virtualisation: Check = async (config) => {
  const device = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => 'usable',
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  )
  if (device === 'EACCES') return warning(`KVM is there, but not for this user: ${SLOWER}`, 'add the user to the group kvm, or run as root')
  if (device !== 'usable') return absent(await cpuCan())
  const types = await withLibvirt((libvirt) => libvirt.connect.getCapabilities()).then(
    (xml) => domainTypesIn(xml, archIn(xml)),
    () => null, // said by the check of libvirt
  )
  if (types && !types.includes('kvm')) {
    return warning(`/dev/kvm is there, but QEMU cannot use it: ${SLOWER}`, 'look at: dmesg | grep -i kvm; then restart libvirtd')
  }
  return tried(config)
}

/** That it is there proves nothing: a host is asked to start a guest with it when it is first used. */
const tried = look('KVM', async (db) => {
  const host = (await listHosts(db)).find(({ uri }) => uri === 'qemu:///system')
  if (!host) return ok('KVM is there; whether guests start with it is tried when this machine becomes a host')
  if (host.acceleration === 'kvm') return ok('KVM: VMs run on the processor itself')
  return warning(
    `KVM is there, but no guest starts with it: ${SLOWER}`,
    'where this machine is itself a VM, its host must allow nested virtualisation',
  )
})

/** ARM has no word for it in /proc/cpuinfo: there the device alone tells. */
async function cpuCan(): Promise<boolean | null> {
  if (process.arch === 'arm64') return null
  return /\b(vmx|svm)\b/.test(await readFile('/proc/cpuinfo', 'utf8'))
}

export function absent(cpu: boolean | null): Finding {
  const nested = 'switch on virtualisation in the firmware, or nested virtualisation where this machine is itself a VM'
  if (cpu === true)
    return warning(`the CPU can virtualise, but there is no /dev/kvm: ${SLOWER}`, 'load the module: modprobe kvm_intel or kvm_amd')
  if (cpu === false) return warning(`no usable KVM, the CPU offers none: ${SLOWER}`, nested)
  return warning(`no usable KVM, there is no /dev/kvm: ${SLOWER}`, `use a machine whose kernel has KVM; ${nested}`)
}
