// Every VM's QEMU runs as a user of its own: a guest that breaks out of its QEMU owns the files of no other guest. Nothing is allocated: the
// number follows from the VM's id, so it is the same on every host, and two VMs of one host share one with a chance of 1 in 268 million.
import { createHash } from 'node:crypto'
import { element, type Element, type Xml } from './xml.ts'

/** Above the numbers that systemd gives to users, services and containers, and below 2^31. */
const FIRST = 0x7000_0000
const COUNT = 0x0fff_fff0

export const guestUid = (vmId: string): number => FIRST + (createHash('sha256').update(vmId).digest().readUInt32BE(0) % COUNT)

/** libvirt starts QEMU as this user, and makes it the owner of the disk, the seed and QEMU's sockets. The group is that of all QEMUs, which
 *  /dev/kvm and libvirt's folders need. Null: the host cannot do that, and QEMU runs as the user of qemu.conf. */
export const seclabelXml = (vmId: string, group: number | null): Xml | null =>
  group === null ? null : labelXml(`+${guestUid(vmId)}:+${group}`)

const labelXml = (label: string): Xml => element('seclabel', { type: 'static', model: 'dac', relabel: 'yes' }, element('label', {}, label))

/** For a helper domain that opens the disk of the machine. */
export function copySeclabel(machine: Element): Xml | null {
  const label = machine.all('seclabel').find(({ attributes }) => attributes['type'] === 'static' && attributes['model'] === 'dac')
  return label ? labelXml(label.find('label')?.text ?? '') : null
}
