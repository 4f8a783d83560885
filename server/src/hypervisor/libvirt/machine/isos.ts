// Puts ISO images into the drives of domains and takes them out, running or not.
import type { DiskLimits, IsoRef, Isos } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { findMachine, readDefinition, readDomain } from '../domain/lookup.ts'
import { ensureIso, removeIso, requireIso } from '../storage/isos.ts'
import { limitsByDisk } from '../xml/domain-xml.ts'
import { archOf, driveOf, driveXml, isoIdIn } from '../xml/drive-xml.ts'
import { limitsOf } from '../xml/limits-xml.ts'
import { limitLive } from './definition.ts'

export const isoMethods = (context: HostContext): Isos => ({
  ensureIso: async (iso, signal) => void (await ensureIso(context, iso, signal)),
  ensureNoIso: (imageId, signal) => context.exclusive(`iso:${imageId}`, signal, () => removeIso(context, imageId, signal)),
  ensureInDrive: (vmId, iso, signal) => context.exclusive(`vm:${vmId}`, signal, () => change(context, vmId, iso, signal)),
})

async function change(context: HostContext, vmId: string, iso: IsoRef | null, signal: AbortSignal): Promise<{ isoId: string | null }> {
  const machine = await findMachine(context, vmId, signal)
  if (!machine || !driveOf(machine.xml)) return { isoId: null }
  const { domain, isOn, xml: current } = machine
  const isoId = iso?.imageId ?? null
  const path = iso && (await ensureIso(context, iso, signal))
  const definition = await readDefinition(context, domain, signal)
  const update = (limits: DiskLimits, ...flags: ('live' | 'config' | 'force')[]) => {
    const { xml } = driveXml(path, archOf(current), limits)
    return context.call(`change the medium of ${domain.name}`, signal, (host) => host.domains.updateDevice({ domain, xml, flags }))
  }
  const limits = limitsByDisk(current).get('vda')!
  if (isOn && isoIdIn(current) !== isoId) await update(limitsOf(driveOf(current)), 'live', 'force') // it changes nothing else at the same time
  if (definition && driveOf(definition) && isoIdIn(definition) !== isoId) await update(limits, 'config')
  const changed = isOn && iso ? await readDomain(context, domain, signal) : undefined
  if (changed) await limitLive(context, { domain, xml: changed }, limits, signal)
  if (iso) await requireIso(context, iso, signal)
  return { isoId }
}
