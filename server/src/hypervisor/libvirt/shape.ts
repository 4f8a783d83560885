// What a machine is defined as: its size, its generation, its interfaces.
import { randomUUID } from 'node:crypto'
import type { Domain, Volume } from '@berth/libvirt'
import { DriverError, type Machines, type MachineSpec } from '../driver.ts'
import { accelerationOf } from './acceleration.ts'
import { GIB } from './disks.ts'
import { domainXml } from './domain-xml.ts'
import { growAtRest, growLive } from './growth.ts'
import { canLimit } from './limits.ts'
import { findMachine, type MachineState } from './machine-state.ts'
import type { Metadata } from './metadata.ts'
import { diskName, seedName } from './names.ts'
import { endReader } from './rest-copy.ts'
import type { Session } from './session.ts'
import { findVolume, findWhole } from './volumes.ts'

export const shapeVerbs = (session: Session): Pick<Machines, 'ensureShape'> => ({
  ensureShape: (spec, signal) =>
    session.alone(`vm:${spec.vmId}`, signal, async () => {
      const found = await findMachine(session, spec.vmId, signal)
      if (found?.isOn) requireSameShape(found, spec)
      else await define(session, spec, found?.metadata ?? NOTHING, signal)
      const disk = await getDisk(session, spec, signal)
      const wanted = spec.diskGiB * GIB
      if (!found?.isOn) await endReader(session, spec.vmId, signal)
      const bytes = found?.isOn
        ? await growLive(session, found.domain, wanted, signal)
        : await growAtRest(session, disk, wanted, spec.template.arch, signal)
      return { diskGiB: bytes / GIB }
    }),
})

export function requireSameShape({ xml, metadata, domain }: MachineState, { vmId, generation, vcpu, ramMiB }: MachineSpec): void {
  const [cpus, memory] = [Number(xml.find('vcpu')?.text), Number(xml.find('memory')?.text) / 1024]
  if (metadata.generation === generation && cpus === vcpu && memory === ramMiB) return
  const has = `generation ${metadata.generation}, ${cpus} vCPU, ${memory} MiB`
  throw new DriverError('invalid_state', `Machine ${vmId} (${domain.name}) runs with ${has}; stop it before it can change`)
}

async function getDisk(session: Session, { vmId, generation }: MachineSpec, signal: AbortSignal): Promise<Volume> {
  const disk = await findWhole(session, diskName(vmId, generation), signal)
  if (!disk) throw new DriverError('not_found', `Host ${session.hostId} has no whole disk of ${vmId}, generation ${generation}`)
  return disk
}

/** What a machine that was never defined remembers. */
export const NOTHING = { restartId: null, stop: null }

/** Of a machine that is off. */
export async function define(
  session: Session,
  spec: MachineSpec,
  { restartId, stop }: Pick<Metadata, 'restartId' | 'stop'>,
  signal: AbortSignal,
): Promise<Domain> {
  const disk = await getDisk(session, spec, signal)
  const seed = await findVolume(session, seedName(spec.vmId, spec.generation), signal)
  if (!seed) throw new DriverError('not_found', `Host ${session.hostId} has no seed of ${spec.vmId}, generation ${spec.generation}`)
  const { xml } = domainXml(spec, {
    acceleration: await accelerationOf(session, signal, spec.template.arch),
    canLimit: await canLimit(session, signal),
    diskPath: disk.key,
    seedPath: seed.key,
    remembered: { restartId, stop, startId: randomUUID() },
  })
  return session.call(`define ${spec.vmId}`, signal, (host) => host.domains.define({ xml }))
}
