// Purges a VM from the host: the domain first, then what it used, so that a running guest never loses a resource.
import type { Machines } from '../../driver.ts'
import { findDomain, findMachine, undefine } from '../domain/lookup.ts'
import { stopRecording } from '../domain/console-recorder.ts'
import { domainName, STORAGE_POOL, readVolumeName, type VolumeName } from '../core/resource-names.ts'
import { element } from '../core/xml.ts'
import { forceOff } from './power.ts'
import { stopReaderDomain } from '../domain/reader-domain.ts'
import type { HostContext } from '../core/host-context.ts'
import { findPool } from '../storage/backends.ts'
import { removeVolume } from '../storage/volumes.ts'

export function purgeMethods(context: HostContext): Pick<Machines, 'ensurePurged' | 'ensurePurgedKeepBackups'> {
  const remove = (vmId: string, signal: AbortSignal, isKept: (volume: VolumeName) => boolean, fromPool: boolean): Promise<void> =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const isInRescue = ((await findMachine(context, vmId, signal))?.metadata.rescue ?? null) !== null
      if (!(await removeDomain(context, vmId, signal)) || isInRescue) await removeVariables(context, vmId, signal)
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

/** Running jobs, such as a backup, end with the domain. False when there is none. */
export async function removeDomain(context: HostContext, vmId: string, signal: AbortSignal): Promise<boolean> {
  const domain = await findDomain(context, vmId, signal)
  if (!domain) return false
  await forceOff(context, domain, signal)
  await undefine(context, domain, signal)
  return true
}

const VARIABLES_FOLDER = '/var/lib/libvirt/qemu/nvram'

/**
 * Those of the firmware of a machine that has moved away, or is defined with a rescue system, which has another firmware: libvirt deletes them with a definition only, so they get another one. Not
 * as volumes of a pool: libvirtd would look into all of them, and open as root whatever path a guest has written into its own as that of a backing file.
 */
async function removeVariables(context: HostContext, vmId: string, signal: AbortSignal): Promise<void> {
  const name = domainName(vmId)
  const xml = element(
    'domain',
    { type: 'qemu' },
    element('name', {}, name),
    element('memory', { unit: 'MiB' }, 64),
    element(
      'os',
      {},
      element('type', {}, 'hvm'),
      element('loader', { readonly: 'yes', type: 'pflash' }, '/never/started'),
      element('nvram', {}, `${VARIABLES_FOLDER}/${name}_VARS.fd`),
    ),
    element('features', {}, element('acpi')), // without which libvirt refuses firmware of this kind
  ).xml
  const domain = await context.call(`define ${vmId} to remove its firmware variables`, signal, (host) => host.domains.define({ xml }))
  await undefine(context, domain, signal)
}

/** Layers before their backing; markers are removed with their volumes. */
const ORDER = ['seed', 'disk', 'snapshot', 'backup', 'marker', 'template', 'unknown']

const volumesOf = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<string[]> =>
  call(`list volumes of ${vmId}`, signal, async (host) => {
    const pool = await host.pools.lookupByName({ name: STORAGE_POOL })
    const named = (await host.pools.listAllVolumes({ pool })).map(({ name }) => ({ name, ...readVolumeName(name) }))
    const own = named.filter((each) => each.vmId === vmId)
    return own.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(({ name }) => name)
  })
