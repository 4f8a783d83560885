// Inventory of a host: machines and volumes, read from libvirt alone.
import { DomainState, PausedReason, type Volume as LibvirtVolume } from '@berth/libvirt'
import type { Machine, Monitoring, Power, StopReason, Volume } from '../../driver.ts'
import { eachDomain } from '../domain/lookup.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { cpuSetOf } from '../xml/cpu-xml.ts'
import { diskLimitsOf, volumesOf } from '../xml/domain-xml.ts'
import { isoIdIn } from '../xml/drive-xml.ts'
import { interfacesOf, macOf } from '../xml/interface-xml.ts'
import { roomOf, sizeOf } from '../xml/size-xml.ts'
import { findMachine } from '../domain/lookup.ts'
import type { Metadata } from '../xml/domain-metadata.ts'
import { markerName, STORAGE_POOL, readVolumeName, storageIdOf } from '../core/resource-names.ts'
import { parentOf } from '../storage/volumes.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml, type Element } from '../core/xml.ts'

export function inventoryMethods(context: HostContext): Pick<Monitoring, 'findMachine' | 'listMachines' | 'listVolumes'> {
  return {
    findMachine: async (vmId, signal) => {
      const found = await findMachine(context, vmId, signal)
      return found ? toMachine(found) : null
    },
    listMachines: (signal) => listMachines(context, signal),
    listVolumes: (signal) => listVolumes(context, signal),
  }
}

async function* listMachines(context: HostContext, signal: AbortSignal): AsyncGenerator<Machine> {
  const all = await context.call('list domains', signal, (host) => host.domains.getAllStats({ groups: ['state'], flags: ['nowait'] }))
  const states = new Map(all.map(({ domain, stats }) => [domain.uuid, stats]))
  for await (const listed of eachDomain(context, signal)) {
    const stats = states.get(listed.domain.uuid)
    const state = Number(stats?.['state.state'] ?? DomainState.shutoff)
    yield toMachine({ ...listed, state, reason: Number(stats?.['state.reason'] ?? 0) })
  }
}

interface Seen {
  domain: { name: string; uuid: string }
  xml: Element
  metadata: Metadata | undefined
  state: number
  reason: number
}

function toMachine({ domain, xml, metadata, state, reason }: Seen): Machine {
  const power = powerOf(state)
  return {
    vmId: metadata?.vmId ?? null,
    accountId: metadata?.accountId ?? null,
    generation: metadata?.generation ?? null,
    rescueGeneration: metadata?.rescue ?? null,
    name: domain.name,
    uuid: domain.uuid,
    power,
    stopReason: power === 'stopped' ? whyShutOff(reason, metadata?.stop ?? null) : null,
    isOutOfSpace: state === DomainState.paused && reason === PausedReason.ioError,
    ...sizeOf(xml),
    room: roomOf(xml),
    cpus: cpuSetOf(xml),
    diskLimits: diskLimitsOf(xml),
    agentConnected: xml.all('devices/channel/target').some(({ attributes: { name, state: now } }) => name === AGENT && now === 'connected'),
    nics: interfacesOf(xml).map((nic) => ({ mac: macOf(nic) })),
    volumes: volumesOf(xml).map(({ id }) => id),
    isoId: isoIdIn(xml),
  }
}

const AGENT = 'org.qemu.guest_agent.0'

function powerOf(state: number): Power {
  if (state === DomainState.paused || state === DomainState.pmsuspended) return 'paused'
  return state === DomainState.running || state === DomainState.blocked || state === DomainState.shutdown ? 'running' : 'stopped'
}

/** libvirt's reasons for a domain that is shut off: `unknown` after a power loss of the host, and for domains that were off before the daemon
 *  started. */
const ShutOff = { unknown: 0, shutdown: 1, destroyed: 2, crashed: 3, failed: 6, daemon: 8 } as const

/** A requested stop whose success was not recorded counts as `user` only when the daemon saw the domain stop. Otherwise a stop that failed
 *  long ago would keep the VM off after a power loss of the host. */
function whyShutOff(reason: number, stop: Metadata['stop']): StopReason | null {
  if (reason === ShutOff.crashed || reason === ShutOff.failed) return 'crash'
  const wasSeen = reason === ShutOff.shutdown || reason === ShutOff.destroyed
  if (stop === 'done' || (stop === 'ordered' && wasSeen)) return 'user'
  if (reason === ShutOff.shutdown) return 'guest'
  const isHost = reason === ShutOff.destroyed || reason === ShutOff.daemon || reason === ShutOff.unknown
  return isHost ? 'host' : null
}

/** In a storage backend only those of VMs that the host has a mark of. */
async function* listVolumes({ call, storage, hostId }: HostContext, signal: AbortSignal): AsyncGenerator<Volume> {
  const volumes = await call('list volumes', signal, async (host) =>
    host.pools.lookupByName({ name: STORAGE_POOL }).then((pool) => host.pools.listAllVolumes({ pool })),
  )
  const names = new Set(volumes.map(({ name }) => name))
  for (const pool of await storage.poolsOf(hostId)) {
    const marks = volumes.filter(({ name }) => storageIdOf(name) === pool.backend.id)
    if (marks.length > 0) yield* await pool.listVolumes(new Set(marks.map(({ name }) => readVolumeName(name).vmId ?? '')), signal)
  }
  for (const volume of volumes.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    if (readVolumeName(volume.name).kind === 'marker') continue
    const xml = await call(`read ${volume.name}`, signal, (host) => undefinedIfNotFound(host.volumes.getXml({ volume })))
    if (xml !== undefined) yield toVolume(volume, readXml(xml), names)
  }
}

const rank = ({ name }: LibvirtVolume): string => `${readVolumeName(name).kind} ${name}`

function toVolume({ name }: LibvirtVolume, xml: Element, names: Set<string>): Volume {
  const { kind, id, vmId, generation } = readVolumeName(name)
  return {
    kind: kind === 'marker' ? 'unknown' : kind,
    id,
    vmId,
    generation,
    parentId: kind === 'backup' ? parentOf(xml) : null,
    complete: kind === 'unknown' || names.has(markerName(name)),
    capacityBytes: Number(xml.find('capacity')?.text ?? 0),
    sizeBytes: Number((xml.find('physical') ?? xml.find('allocation'))?.text ?? 0),
    storageId: null,
  }
}
