// Certificates for migrations between the hosts of a region: what libvirtd presents to the libvirtd of another host, which root alone can read,
// and what the QEMUs present to each other, which they can read. Memory and disks of guests go through the latter.
import { chown, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PEER_PKI } from '../hypervisor/libvirt/core/endpoint.ts'
import { missing, satisfied, type HostPlan, type PeerBundle, type Step } from './setup-step.ts'
import { exists, readFileOrNull, run, writeFileAtomic } from './shell.ts'

/** Where AppArmor lets QEMU read certificates. */
export const QEMU_PKI = '/etc/pki/qemu'
const QEMU_CONF = '/etc/libvirt/qemu.conf'

export const isPrepared = (): Promise<boolean> => exists(join(QEMU_PKI, 'server-key.pem'))

interface File {
  path: string
  text: string
  mode: number
}

export const migration: Step = {
  name: 'migration',
  async check(plan) {
    const files = filesOf(plan)
    if (files.length === 0)
      return satisfied(
        (await isPrepared()) ? 'machines migrate from and to this host' : 'no certificate for migrations: this host is alone',
      )
    const group = await groupOfQemu()
    for (const file of files) if (!(await isInstalled(file, group))) return missing('the certificates for migrations')
    return satisfied('machines migrate from and to the hosts of this region')
  },
  async apply(plan) {
    const group = await groupOfQemu()
    for (const { path, text, mode } of filesOf(plan)) {
      await writeFileAtomic(path, text, mode)
      await chown(path, 0, isGroups(mode) ? group : 0)
    }
  },
}

const isGroups = (mode: number): boolean => (mode & 0o040) !== 0

function filesOf({ bundle }: HostPlan): File[] {
  return bundle?.peers ? [...libvirtFiles(bundle.ca, bundle.peers), ...qemuFiles(bundle.peers)] : []
}

/** By the names that libvirt looks for. */
const libvirtFiles = (ca: string, { libvirt }: PeerBundle): File[] => [
  { path: join(PEER_PKI, 'cacert.pem'), text: ca, mode: 0o600 },
  { path: join(PEER_PKI, 'clientkey.pem'), text: libvirt.key, mode: 0o600 },
  { path: join(PEER_PKI, 'clientcert.pem'), text: libvirt.cert, mode: 0o600 },
]

/** By the names that QEMU looks for: it is server and client. It reads the list anew for each machine that it receives. */
const qemuFiles = ({ qemu }: PeerBundle): File[] =>
  [
    { name: 'ca-cert', text: qemu.ca },
    ...(qemu.crl === undefined ? [] : [{ name: 'ca-crl', text: qemu.crl }]),
    { name: 'client-cert', text: qemu.cert },
    { name: 'client-key', text: qemu.key },
    { name: 'server-cert', text: qemu.cert },
    { name: 'server-key', text: qemu.key },
  ].map(({ name, text }) => ({ path: join(QEMU_PKI, `${name}.pem`), text, mode: name.endsWith('-key') ? 0o640 : 0o644 }))

async function isInstalled({ path, text, mode }: File, group: number): Promise<boolean> {
  if ((await readFileOrNull(path)) !== text) return false
  const found = await stat(path)
  return (found.mode & 0o777) === mode && (!isGroups(mode) || found.gid === group)
}

/** All guests have it (hypervisor/libvirt/core/guest-user.ts); libvirt takes the last line. */
async function groupOfQemu(): Promise<number> {
  const named = [...((await readFileOrNull(QEMU_CONF)) ?? '').matchAll(/^\s*group\s*=\s*"([^"]+)"/gm)].at(-1)?.[1] ?? 'kvm'
  if (/^\+?\d+$/.test(named)) return Number(named)
  const line = await run('getent', 'group', named).catch(() => '')
  return line ? Number(line.split(':')[2]) : 0
}
