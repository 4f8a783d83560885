// Nothing of a VM is left: the machine first, then what it used, so that nothing is taken from under a running guest.
import { ErrorCode, hasCode, type Host } from '@berth/libvirt'
import type { Machines } from '../driver.ts'
import { findDomain } from './domains.ts'
import { orMissing } from './errors.ts'
import { endRecording } from './last-words.ts'
import { filterName, POOL, readVolumeName, type VolumeName } from './names.ts'
import { cutOff } from './power.ts'
import { endReader } from './rest-copy.ts'
import type { Session } from './session.ts'
import { removeVolume } from './volumes.ts'
import { pause } from './waiting.ts'

export function goneVerbs(session: Session): Pick<Machines, 'ensureGone' | 'ensureNoMachine'> {
  const remove = (vmId: string, signal: AbortSignal, isKept: (volume: VolumeName) => boolean): Promise<void> =>
    session.alone(`vm:${vmId}`, signal, async () => {
      await removeDomain(session, vmId, signal)
      await endReader(session, vmId, signal)
      await removeFilter(session, vmId, signal)
      for (const name of await volumesOf(session, vmId, signal))
        if (!isKept(readVolumeName(name))) await removeVolume(session, name, signal)
      endRecording(session, vmId)
    })
  return {
    ensureGone: (vmId, signal) => remove(vmId, signal, () => false),
    ensureNoMachine: (vmId, signal) => remove(vmId, signal, ({ kind, id }) => kind === 'backup' || id.startsWith('backup-')),
  }
}

/** Jobs of a machine, such as a backup under way, end with it. */
async function removeDomain(session: Session, vmId: string, signal: AbortSignal): Promise<void> {
  const domain = await findDomain(session, vmId, signal)
  if (!domain) return
  await cutOff(session, domain, signal)
  const flags = ['managedSave', 'snapshotsMetadata', 'checkpointsMetadata', 'nvram'] as const
  await session.call(`undefine ${domain.name}`, signal, (host) => orMissing(host.domains.undefine({ domain, flags })))
}

const BUSY_POLL_MS = 200

/** The daemon lets go of a filter a moment after the machine is gone. */
async function removeFilter(session: Session, vmId: string, signal: AbortSignal): Promise<void> {
  const what = `remove the filter of ${vmId}`
  while (!(await session.call(what, signal, (host) => undefineFilter(host, vmId))))
    await session.call(what, signal, () => pause(BUSY_POLL_MS, signal))
}

async function undefineFilter(host: Host, vmId: string): Promise<boolean> {
  const filter = await orMissing(host.filters.lookupByName({ name: filterName(vmId) }))
  if (!filter) return true
  const removed = orMissing(host.filters.undefine({ filter })).then(() => true)
  return removed.catch((error: unknown) => {
    if (hasCode(error, ErrorCode.operationInvalid)) return false
    throw error
  })
}

/** What builds on another goes first, and markers come along with what they mark. */
const ORDER = ['seed', 'disk', 'snapshot', 'backup', 'marker', 'template', 'unknown']

const volumesOf = ({ call }: Session, vmId: string, signal: AbortSignal): Promise<string[]> =>
  call(`list what ${vmId} has`, signal, async (host) => {
    const pool = await host.pools.lookupByName({ name: POOL })
    const named = (await host.pools.listAllVolumes({ pool })).map(({ name }) => ({ name, ...readVolumeName(name) }))
    const own = named.filter((each) => each.vmId === vmId)
    return own.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(({ name }) => name)
  })
