// udev gives /dev/kvm to the group kvm. Without udev, as in most containers, it belongs to root alone: libvirtd may open it, QEMU under its
// own user may not, and libvirt, which sees the difference, probes QEMU again at every call.
import { chmod, chown, stat } from 'node:fs/promises'
import { missing, satisfied, type Step } from './setup-step.ts'
import { run } from './shell.ts'

const DEVICE = '/dev/kvm'
const GROUP_RW = 0o060

export const kvmDevice: Step = {
  name: 'kvm',
  async check() {
    const device = await stat(DEVICE).catch(() => null)
    if (!device) return satisfied(`no ${DEVICE}: VMs are emulated`)
    return isOpenToQemu(device, await kvmGroup()) ? satisfied(`QEMU may open ${DEVICE}`) : missing(`the group kvm on ${DEVICE}`)
  },
  async apply() {
    await chown(DEVICE, 0, (await kvmGroup()) ?? 0)
    await chmod(DEVICE, 0o660)
  },
}

/** Without such a group the distribution has arranged it otherwise. */
export function isOpenToQemu({ mode, gid }: { mode: number; gid: number }, kvm: number | null): boolean {
  const othersMay = (mode & 0o006) === 0o006
  return kvm === null || othersMay || (gid === kvm && (mode & GROUP_RW) === GROUP_RW)
}

/** The number of the group, which libvirt's packages make, or null. */
export async function kvmGroup(): Promise<number | null> {
  const line = await run('getent', 'group', 'kvm').catch(() => '')
  return line ? Number(line.split(':')[2]) : null
}
