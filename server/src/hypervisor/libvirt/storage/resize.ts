// Disks grow, live or at rest. Never smaller: libvirt would cut a disk off without a word.
// A disk keeps records of what changed since its backups. While QEMU has the disk open they are marked as in use, and one that died leaves
// them so: broken, of no use to anybody, and in the way, because QEMU grows no disk that has such a record.
// A disk at rest, opened by a QEMU of its own: some of what is in the file nobody else can change.
import type { Domain, Host, Volume } from '@berth/libvirt'
import { type Arch, DriverError, isDriverError } from '../../driver.ts'
import { hasText, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'
import { diskHelperName } from '../core/resource-names.ts'
import { diskXml, pausedDomainXml } from '../xml/domain-xml.ts'

export const capacityOf = ({ call }: HostContext, volume: Volume, signal: AbortSignal): Promise<number> =>
  call(`measure ${volume.name}`, signal, async (host) => Number((await host.volumes.getInfo({ volume })).capacity))

/** Answers how large it is. */
export async function growTo(context: HostContext, volume: Volume, bytes: number, signal: AbortSignal): Promise<number> {
  const capacity = await capacityOf(context, volume, signal)
  if (capacity >= bytes) return capacity
  await context.call(`grow ${volume.name}`, signal, (host) => host.volumes.resize({ volume, capacity: BigInt(bytes) }))
  return bytes
}

/** Of a machine that is off. Nothing but a QEMU that has the disk open removes a broken record, so one opens it where that is needed. */
export const growOffline = (context: HostContext, disk: Volume, bytes: number, arch: Arch, signal: AbortSignal): Promise<number> =>
  growTo(context, disk, bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    return withDiskOpen(context, disk, arch, (domain) => growLive(context, domain, bytes, signal), signal).catch(withBitmapMessage)
  })

export const growLive = (context: HostContext, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  grow(context, domain, bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    const removed = removeInconsistentBitmaps(context, domain, signal)
    return removed.then(() => grow(context, domain, bytes, signal)).catch(withBitmapMessage)
  })

const grow = ({ call }: HostContext, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  call(`grow the disk of ${domain.name}`, signal, async (host) => {
    const { capacity } = await host.domains.getBlockInfo({ domain, disk: 'vda' })
    const wanted = BigInt(bytes)
    if (capacity < wanted) await host.domains.blockResize({ domain, disk: 'vda', size: wanted, flags: ['bytes'] })
    return Number(capacity < wanted ? wanted : capacity)
  })

function withBitmapMessage(error: unknown): never {
  if (!isDriverError(error) || error.kind === 'aborted') throw error
  const sentence = 'The disk cannot grow: a crash broke its record of what changed since a backup, and it could not be removed.'
  throw new DriverError(error.kind, error.message, { userMessage: sentence, cause: error })
}

const isBlockedByBitmap = (error: unknown): boolean => hasText(error, 'inconsistentBitmap')

interface Node {
  'node-name': string
  ro: boolean
  'dirty-bitmaps'?: { name: string; inconsistent?: boolean }[]
}

/** Of a machine that is on. libvirt itself removes only what it has a checkpoint of. */
export const removeInconsistentBitmaps = ({ call, log, hostId }: HostContext, domain: Domain, signal: AbortSignal): Promise<void> =>
  call(`remove broken records of changes of ${domain.name}`, signal, async (host) => {
    const nodes = (await ask(host, domain, 'query-named-block-nodes', { flat: true })) as Node[]
    for (const { 'node-name': node, ro, 'dirty-bitmaps': records = [] } of nodes)
      for (const { name, inconsistent } of records) {
        if (ro || !inconsistent) continue
        await ask(host, domain, 'block-dirty-bitmap-remove', { node, name })
        log.info({ hostId, domain: domain.name, record: name }, 'a record of changes that a crash broke was removed')
      }
  })

async function ask(host: Host, domain: Domain, execute: string, args: Record<string, unknown>): Promise<unknown> {
  const answer = await host.guests.monitorCommand({ domain, command: JSON.stringify({ execute, arguments: args }) })
  const { return: given, error } = JSON.parse(answer) as { return?: unknown; error?: { desc: string } }
  if (error) throw new Error(`${execute}: ${error.desc}`)
  return given
}

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
    context.call(`close ${disk.name}`, AbortSignal.timeout(CLEANUP_TIMEOUT_MS), async (host) => {
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
