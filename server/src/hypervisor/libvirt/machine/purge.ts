// Purges a VM from the host: the domain first, then what it used, so that a running guest never loses a resource.
import type { Machines } from '../../driver.ts'
import { findDomain, undefine } from '../domain/lookup.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { stopRecording } from '../domain/console-recorder.ts'
import { openFolder } from '../host/setup-files.ts'
import { domainName, STORAGE_POOL, readVolumeName, type VolumeName } from '../core/resource-names.ts'
import { forceOff } from './power.ts'
import { stopReaderDomain } from '../domain/reader-domain.ts'
import type { HostContext } from '../core/host-context.ts'
import { findPool } from '../storage/backends.ts'
import { removeVolume } from '../storage/volumes.ts'

export function purgeMethods(context: HostContext): Pick<Machines, 'ensurePurged' | 'ensurePurgedKeepBackups'> {
  const remove = (vmId: string, signal: AbortSignal, isKept: (volume: VolumeName) => boolean, fromPool: boolean): Promise<void> =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      await removeDomain(context, vmId, signal)
      await removeVariables(context, vmId, signal)
      await stopReaderDomain(context, vmId, signal)
      if (fromPool) await (await findPool(context, vmId, signal))?.ensurePurged(vmId, signal)
      for (const name of await volumesOf(context, vmId, signal))
        if (!isKept(readVolumeName(name))) await removeVolume(context, name, signal)
      stopRecording(context, vmId)
    })
  return {
    ensurePurged: (vmId, signal) => remove(vmId, signal, () => false, true),
    ensurePurgedKeepBackups: (vmId, signal) => remove(vmId, signal, ({ kind, id }) => kind === 'backup' || id.startsWith('backup-'), false),
  }
}

/** Running jobs, such as a backup, end with the domain. */
export async function removeDomain(context: HostContext, vmId: string, signal: AbortSignal): Promise<void> {
  const domain = await findDomain(context, vmId, signal)
  if (!domain) return
  await forceOff(context, domain, signal)
  await undefine(context, domain, signal)
}

const VARIABLES_POOL = 'berth-variables'
const VARIABLES_FOLDER = '/var/lib/libvirt/qemu/nvram'

/** Those of the firmware of a machine that has moved away: libvirt deletes them with a definition only, which went with it. */
const removeVariables = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<void> =>
  call(`remove firmware variables of ${vmId}`, signal, async (host) => {
    const pool = await openFolder(host, VARIABLES_POOL, VARIABLES_FOLDER)
    const left = (await host.pools.listAllVolumes({ pool })).find(({ name }) => name === `${domainName(vmId)}_VARS.fd`)
    if (left) await undefinedIfNotFound(host.volumes.delete({ volume: left }))
  })

/** Layers before their backing; markers are removed with their volumes. */
const ORDER = ['seed', 'disk', 'snapshot', 'backup', 'marker', 'template', 'unknown']

const volumesOf = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<string[]> =>
  call(`list volumes of ${vmId}`, signal, async (host) => {
    const pool = await host.pools.lookupByName({ name: STORAGE_POOL })
    const named = (await host.pools.listAllVolumes({ pool })).map(({ name }) => ({ name, ...readVolumeName(name) }))
    const own = named.filter((each) => each.vmId === vmId)
    return own.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(({ name }) => name)
  })
