// A disk at rest, opened by a QEMU of its own: some of what is in the file nobody else can change.
import type { Domain, Volume } from '@berth/libvirt'
import type { Arch } from '../driver.ts'
import { diskXml } from './domain-xml.ts'
import { undefinedIfNotFound } from './errors.ts'
import { diskHelperName } from './names.ts'
import type { HostContext } from './session.ts'
import { pausedDomainXml } from './still-machine.ts'

const CLOSE_MS = 30_000

/** A machine with nothing but the disk, which is never let go and ends with our connection at the latest. */
export async function withDiskOpen<T>(
  context: HostContext,
  disk: Volume,
  arch: Arch,
  work: (domain: Domain) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const name = diskHelperName(disk.name)
  const close = (): Promise<unknown> =>
    context.call(`close ${disk.name}`, AbortSignal.timeout(CLOSE_MS), async (host) => {
      const left = await undefinedIfNotFound(host.domains.lookupByName({ name }))
      if (left) await undefinedIfNotFound(host.domains.destroy({ domain: left }))
    })
  await close() // of a process that died over it, where the daemon has not noticed yet
  try {
    const { xml } = pausedDomainXml(name, { arch, machine: arch === 'aarch64' ? 'virt' : 'q35' }, diskXml(disk.key))
    return await work(
      await context.call(`open ${disk.name}`, signal, (host) => host.domains.createXml({ xml, flags: ['paused', 'autodestroy'] })),
    )
  } finally {
    await close()
  }
}
