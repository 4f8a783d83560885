// Puts ISO images into the drives of domains and takes them out, running or not.
import { type IsoRef, type Isos } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { findMachine, readDefinition } from '../domain/lookup.ts'
import { ensureIso, removeIso, requireIso } from '../storage/isos.ts'
import { archOf, driveOf, driveXml, isoIdIn } from '../xml/drive-xml.ts'

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
  const { xml } = driveXml(iso && (await ensureIso(context, iso, signal)), archOf(current))
  const definition = await readDefinition(context, domain, signal)
  const isDefined = !definition || !driveOf(definition) || isoIdIn(definition) === isoId
  const flags = [...(isOn && isoIdIn(current) !== isoId ? (['live', 'force'] as const) : []), ...(isDefined ? [] : (['config'] as const))]
  if (flags.length > 0)
    await context.call(`change the medium of ${domain.name}`, signal, (host) => host.domains.updateDevice({ domain, xml, flags }))
  if (iso) await requireIso(context, iso, signal)
  return { isoId }
}
