// Disks grow, live or at rest. Never smaller: libvirt would cut a disk off without a word.
import type { Domain, Volume } from '@berth/libvirt'
import { DriverError, isDriverError, type Arch } from '../driver.ts'
import { isKeptByBrokenRecord, removeBrokenRecords } from './broken-records.ts'
import { whileOpen } from './open-disk.ts'
import type { Session } from './session.ts'

export const capacityOf = ({ call }: Session, volume: Volume, signal: AbortSignal): Promise<number> =>
  call(`measure ${volume.name}`, signal, async (host) => Number((await host.volumes.getInfo({ volume })).capacity))

/** Answers how large it is. */
export async function growTo(session: Session, volume: Volume, bytes: number, signal: AbortSignal): Promise<number> {
  const capacity = await capacityOf(session, volume, signal)
  if (capacity >= bytes) return capacity
  await session.call(`grow ${volume.name}`, signal, (host) => host.volumes.resize({ volume, capacity: BigInt(bytes) }))
  return bytes
}

/** Of a machine that is off. Nothing but a QEMU that has the disk open removes a broken record, so one opens it where that is needed. */
export const growAtRest = (session: Session, disk: Volume, bytes: number, arch: Arch, signal: AbortSignal): Promise<number> =>
  growTo(session, disk, bytes, signal).catch((error: unknown) => {
    if (!isKeptByBrokenRecord(error)) throw error
    return whileOpen(session, disk, arch, (domain) => growLive(session, domain, bytes, signal), signal).catch(sayWhy)
  })

export const growLive = (session: Session, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  grow(session, domain, bytes, signal).catch((error: unknown) => {
    if (!isKeptByBrokenRecord(error)) throw error
    const removed = removeBrokenRecords(session, domain, signal)
    return removed.then(() => grow(session, domain, bytes, signal)).catch(sayWhy)
  })

const grow = ({ call }: Session, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  call(`grow the disk of ${domain.name}`, signal, async (host) => {
    const { capacity } = await host.domains.getBlockInfo({ domain, disk: 'vda' })
    const wanted = BigInt(bytes)
    if (capacity < wanted) await host.domains.blockResize({ domain, disk: 'vda', size: wanted, flags: ['bytes'] })
    return Number(capacity < wanted ? wanted : capacity)
  })

function sayWhy(error: unknown): never {
  if (!isDriverError(error) || error.kind === 'aborted') throw error
  const sentence = 'The disk cannot grow: a crash broke its record of what changed since a backup, and it could not be removed.'
  throw new DriverError(error.kind, error.message, { sentence, cause: error })
}
