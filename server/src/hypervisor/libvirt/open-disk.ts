// A disk at rest, opened by a QEMU of its own: some of what is in the file nobody else can change.
import type { Domain, Volume } from '@berth/libvirt'
import type { Arch } from '../driver.ts'
import { diskXml } from './domain-xml.ts'
import { orMissing } from './errors.ts'
import { openDiskName } from './names.ts'
import type { Session } from './session.ts'
import { element, type Xml } from './xml.ts'

const CLOSE_MS = 30_000

/** A machine with nothing but the disk, which is never let go and ends with our connection at the latest. */
export async function whileOpen<T>(
  session: Session,
  disk: Volume,
  arch: Arch,
  work: (domain: Domain) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const name = openDiskName(disk.name)
  const close = (): Promise<unknown> =>
    session.call(`close ${disk.name}`, AbortSignal.timeout(CLOSE_MS), async (host) => {
      const left = await orMissing(host.domains.lookupByName({ name }))
      if (left) await orMissing(host.domains.destroy({ domain: left }))
    })
  await close() // of a process that died over it, where the daemon has not noticed yet
  try {
    const { xml } = openXml(name, disk.key, arch)
    return await work(
      await session.call(`open ${disk.name}`, signal, (host) => host.domains.createXml({ xml, flags: ['paused', 'autodestroy'] })),
    )
  } finally {
    await close()
  }
}

const openXml = (name: string, path: string, arch: Arch): Xml =>
  element(
    'domain',
    { type: 'qemu' },
    element('name', {}, name),
    element('memory', { unit: 'MiB' }, 64),
    element('vcpu', {}, 1),
    element('os', {}, element('type', { arch, machine: arch === 'aarch64' ? 'virt' : 'q35' }, 'hvm')),
    element('devices', {}, element('controller', { type: 'usb', model: 'none' }), diskXml(path), element('memballoon', { model: 'none' })),
  )
