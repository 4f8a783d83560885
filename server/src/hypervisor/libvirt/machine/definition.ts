// Defines the domain of a VM: size, generation, interfaces.
import { randomUUID } from 'node:crypto'
import { ErrorCode, hasCode, Param, type Domain, type Volume } from '@berth/libvirt'
import { DriverError, GIB, isoOf, type ComputeSize, type CpuSet, type DiskLimits, type Machines, type MachineSpec } from '../../driver.ts'
import { roomFor } from '../../room.ts'
import { guestGroup } from '../host/guest-user-probe.ts'
import { detectAcceleration } from '../host/kvm-probe.ts'
import { cpuMap } from '../xml/cpu-xml.ts'
import { sizeOf } from '../xml/size-xml.ts'
import { domainXml, limitsByDisk, type DiskFile, type RbdDisk } from '../xml/domain-xml.ts'
import { LIMIT_GROUP } from '../xml/limits-xml.ts'
import { diskImage } from '../../rbd/names.ts'
import { growOffline, growLive } from '../storage/resize.ts'
import { canOffload } from '../host/offload-probe.ts'
import { findMachine, isOn, readDefinition, undefine, type MachineState } from '../domain/lookup.ts'
import type { Metadata } from '../xml/domain-metadata.ts'
import { diskName, seedName } from '../core/resource-names.ts'
import { stopReaderDomain } from '../domain/reader-domain.ts'
import type { HostContext } from '../core/host-context.ts'
import { connectImage, getPool } from '../storage/backends.ts'
import { openVolume } from '../storage/customer-volumes.ts'
import { ensureIso, requireIso } from '../storage/isos.ts'
import { findVolume, findComplete, readDiskFile } from '../storage/volumes.ts'

export const definitionMethods = (context: HostContext): Pick<Machines, 'ensureDefined' | 'ensureCpus'> => ({
  ensureCpus: (vmId, cpus, signal) =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const found = await findMachine(context, vmId, signal)
      if (found?.isOn) await pinLive(context, found, cpus, signal)
    }),
  ensureDefined: (spec, signal) =>
    context.exclusive(`vm:${spec.vmId}`, signal, async () => {
      const found = await findMachine(context, spec.vmId, signal)
      if (found?.isOn) {
        await requireSameSpec(context, found, spec, signal)
        await limitLive(context, found, spec.diskLimits, signal)
      } else await define(context, spec, found?.metadata ?? NO_SAVED_STATE, signal)
      const wanted = spec.diskGiB * GIB
      const bytes = found?.isOn ? await growLive(context, found.domain, wanted, signal) : await growStopped(context, spec, wanted, signal)
      return { diskGiB: bytes / GIB }
    }),
})

/** What was added while it runs its guest may give back by itself: then its definition has its size. */
export async function requireSameSpec(
  context: HostContext,
  { xml, metadata, domain }: MachineState,
  { vmId, generation, vcpu, ramMiB, rescue }: MachineSpec,
  signal: AbortSignal,
): Promise<void> {
  const size = sizeOf(xml)
  const isSame = (each: ComputeSize): boolean => each.vcpu === vcpu && each.ramMiB === ramMiB
  const isSameSystem = metadata.generation === generation && metadata.rescue === (rescue?.generation ?? null)
  if (isSameSystem && isSame(size)) return
  const definition = size.vcpu <= vcpu && size.ramMiB <= ramMiB ? await readDefinition(context, domain, signal) : undefined
  if (isSameSystem && definition && isSame(sizeOf(definition))) return
  const system = metadata.rescue === null ? '' : `, rescue system ${metadata.rescue}`
  const has = `generation ${metadata.generation}${system}, ${size.vcpu} vCPU, ${size.ramMiB} MiB`
  throw new DriverError('invalid_state', `Machine ${vmId} (${domain.name}) runs with ${has}; stop it first`)
}

/** QEMU's other threads too. A domain that has just gone off rejects it, and is defined anew before it starts. */
export async function pinLive(
  context: HostContext,
  { xml, domain }: Pick<MachineState, 'xml' | 'domain'>,
  set: CpuSet | null,
  signal: AbortSignal,
): Promise<void> {
  const vcpus = sizeOf(xml).vcpu
  const flags = ['live', 'config'] as const
  await context.call(`pin ${domain.name}`, signal, async (host) => {
    const { cpus } = await host.connect.getNodeInfo()
    const mapOf = (vcpu: number): Buffer => cpuMap(set && (set.numaNode === null ? set.cpus : set.cpus.slice(vcpu, vcpu + 1)), cpus)
    try {
      for (let vcpu = 0; vcpu < vcpus; vcpu++) await host.domains.pinVcpu({ domain, vcpu, map: mapOf(vcpu), flags: [...flags] })
      await host.domains.pinEmulator({ domain, map: cpuMap(set?.cpus ?? null, cpus), flags: [...flags] })
    } catch (error) {
      if (!hasCode(error, ErrorCode.noDomain, ErrorCode.operationInvalid) || (await isOn(host, domain))) throw error
    }
  })
}

/** Zero lifts a limit. */
export async function limitLive(
  context: HostContext,
  { xml, domain }: Pick<MachineState, 'xml' | 'domain'>,
  wanted: DiskLimits,
  signal: AbortSignal,
): Promise<void> {
  const isLimited = wanted.iops !== null || wanted.miBPerSecond !== null
  const parameters = {
    total_bytes_sec: Param.ullong(BigInt((wanted.miBPerSecond ?? 0) * 2 ** 20)),
    total_iops_sec: Param.ullong(BigInt(wanted.iops ?? 0)),
    ...(isLimited && { group_name: Param.string(LIMIT_GROUP) }),
  }
  for (const [disk, { iops, miBPerSecond }] of limitsByDisk(xml))
    if (iops !== wanted.iops || miBPerSecond !== wanted.miBPerSecond)
      await context.call(`limit disk ${disk} of ${domain.name}`, signal, (host) =>
        host.domains.setBlockIoTune({ domain, disk, parameters, flags: ['live', 'config'] }),
      )
}

async function growStopped(context: HostContext, spec: MachineSpec, bytes: number, signal: AbortSignal): Promise<number> {
  if (spec.storageId !== null) return (await getPool(context, spec.storageId)).growDisk(spec, bytes, signal)
  const disk = await getDisk(context, spec, signal)
  await stopReaderDomain(context, spec.vmId, signal)
  return growOffline(context, disk, bytes, spec.template.arch, signal)
}

async function openDisk(context: HostContext, spec: MachineSpec, signal: AbortSignal): Promise<DiskFile | RbdDisk> {
  if (spec.storageId === null) return readDiskFile(context, await getDisk(context, spec, signal), signal)
  const pool = await getPool(context, spec.storageId)
  if (!(await pool.findDisk(spec, signal))) throw missingDisk(context, spec)
  return connectImage(context, pool, diskImage(spec), signal)
}

const missingDisk = ({ hostId }: HostContext, { vmId, generation }: MachineSpec): DriverError =>
  new DriverError('not_found', `Host ${hostId} has no complete disk of ${vmId}, generation ${generation}`)

async function getDisk(context: HostContext, spec: MachineSpec, signal: AbortSignal): Promise<Volume> {
  const disk = await findComplete(context, diskName(spec.vmId, spec.generation), signal)
  if (!disk) throw missingDisk(context, spec)
  return disk
}

/** The machine of aarch64 has no vCPU hot-plug. */
const roomOn = (spec: MachineSpec): ComputeSize => (spec.template.arch === 'x86_64' ? roomFor(spec) : spec)

/** Metadata of a domain that was never defined. */
export const NO_SAVED_STATE = { restartId: null, stop: null }

/** Another system on its disk: the variables of its firmware and its TPM begin anew. They are deleted with the definition, and only then. */
async function resetHostState(context: HostContext, { vmId, template }: MachineSpec, signal: AbortSignal): Promise<void> {
  const found = await findMachine(context, vmId, signal)
  if (!found || found.metadata.templateId === template.id || !(found.xml.find('os/nvram') ?? found.xml.find('devices/tpm'))) return
  await undefine(context, found.domain, signal)
}

/** For a VM that is off. */
export async function define(
  context: HostContext,
  spec: MachineSpec,
  { restartId, stop }: Pick<Metadata, 'restartId' | 'stop'>,
  signal: AbortSignal,
): Promise<Domain> {
  await resetHostState(context, spec, signal)
  const disk = await openDisk(context, spec, signal)
  const rescueDisk = spec.rescue && (await openDisk(context, { ...spec, generation: spec.rescue.generation }, signal))
  const seedOf = spec.rescue?.generation ?? spec.generation
  const seed = await findVolume(context, seedName(spec.vmId, seedOf), signal)
  if (!seed) throw new DriverError('not_found', `Host ${context.hostId} has no seed of ${spec.vmId}, generation ${seedOf}`)
  const volumes = []
  for (const volume of spec.volumes) volumes.push({ id: volume.volumeId, source: await openVolume(context, volume, signal) })
  const iso = isoOf(spec)
  const isoPath = iso && (await ensureIso(context, iso, signal))
  const { xml } = domainXml(spec, {
    acceleration: await detectAcceleration(context, signal, spec.template.arch),
    room: roomOn(spec),
    canOffload: await canOffload(context, signal),
    disk,
    ...(rescueDisk && { rescueDisk }),
    seedPath: seed.key,
    volumes,
    ...(isoPath !== undefined && { isoPath }),
    guestGroup: await guestGroup(context, signal),
    remembered: { restartId, stop, startId: randomUUID() },
  })
  const domain = await context.call(`define ${spec.vmId}`, signal, (host) => host.domains.define({ xml }))
  if (iso) await requireIso(context, iso, signal)
  return domain
}
