// Moves a domain to the libvirtd of another host, peer to peer: the daemon of this host does it, and goes on when we die. Memory and disk go
// from QEMU to QEMU over TLS. The disk is copied into an empty one that was made there; a domain that is off is started paused for it, so that
// no guest executes meanwhile. Live XML and definition follow with the paths of the other host and a new id of the start, because the
// interfaces count from zero there.
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { DomainState, ErrorCode, hasCode, JobOperation, JobType, Param, type Domain, type Host, type Scalar } from '@berth/libvirt'
import {
  DriverError,
  isDriverError,
  isoOf,
  type DiskShape,
  type MachineSpec,
  type MigrationRequest,
  type Migrations,
  type Receiver,
} from '../../driver.ts'
import { stopwatch } from '../../../kernel/clock.ts'
import { peerOf } from '../core/endpoint.ts'
import { copySeclabel } from '../core/guest-user.ts'
import { hasText, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS, pollUntilTrue } from '../core/poll.ts'
import { diskName, readVolumeName, seedName } from '../core/resource-names.ts'
import { removeCheckpoint } from '../copies/checkpoints.ts'
import { guestGroup } from '../host/guest-user-probe.ts'
import { canOffload } from '../host/offload-probe.ts'
import { findDomain, findMachine, getMachine, type MachineState } from '../domain/lookup.ts'
import { stopReaderDomain } from '../domain/reader-domain.ts'
import { diskImage } from '../../rbd/names.ts'
import { connectImage, getPool } from '../storage/backends.ts'
import { openVolume } from '../storage/customer-volumes.ts'
import { ensureDisk, layOnTemplate, removeDisk, writeSeed } from '../storage/disks.ts'
import { ensureIso } from '../storage/isos.ts'
import { capacityOf } from '../storage/resize.ts'
import { COPY_MS, createVolume, findVolume, markComplete } from '../storage/volumes.ts'
import { moveCpus } from '../xml/cpu-xml.ts'
import { setMetadata } from '../xml/domain-metadata.ts'
import { diskOf } from '../xml/domain-xml.ts'
import { define } from './definition.ts'
import { forceOff } from './power.ts'
import { removeDomain } from './purge.ts'

export const migrationMethods = (context: HostContext): Migrations => ({
  describeDisk: (vmId, signal) => describeDisk(context, vmId, signal),
  ensureReceiver: (spec, disk, signal) =>
    context.exclusive(`vm:${spec.vmId}`, signal, async () => {
      if (!(await findDomain(context, spec.vmId, signal))) await makeReceiver(context, spec, disk, signal)
      return describeReceiver(context, spec, signal)
    }),
  ensureMigrated: (spec, request, signal) => ensureMigrated(context, spec, request, signal),
  ensureNotMigrating: (vmId, { isOn }, signal) => ensureNotMigrating(context, vmId, isOn, signal),
  ensureReceived: (spec, { isOn }, signal) =>
    context.exclusive(`vm:${spec.vmId}`, signal, () => ensureReceived(context, spec, isOn, signal)),
})

const OWN_DISK = 'vda'

async function describeDisk(context: HostContext, vmId: string, signal: AbortSignal): Promise<DiskShape | null> {
  const { domain, isOn, xml, metadata } = await getMachine(context, vmId, signal)
  const { path, backing } = diskOf(xml)
  if (path === '') return null
  const name = diskName(vmId, metadata.generation)
  const file = await findVolume(context, name, signal)
  if (!file) throw new DriverError('not_found', `Host ${context.hostId} has no ${name}`)
  // A running domain may have grown since libvirt last looked at the file.
  const capacityBytes = isOn
    ? await context.call(`measure ${domain.name}`, signal, async (host) =>
        Number((await host.domains.getBlockInfo({ domain, disk: OWN_DISK })).capacity),
      )
    : await capacityOf(context, file, signal)
  return {
    capacityBytes,
    isLayer: typeof backing === 'string' && readVolumeName(backing.slice(backing.lastIndexOf('/') + 1)).kind === 'template',
  }
}

/** It becomes complete when the machine has arrived. */
async function makeReceiver(context: HostContext, spec: MachineSpec, disk: DiskShape | null, signal: AbortSignal): Promise<void> {
  for (const volume of spec.volumes) await openVolume(context, volume, signal)
  const iso = isoOf(spec)
  if (iso) await ensureIso(context, iso, signal)
  if (!disk) {
    await ensureDisk(context, spec, { from: 'template' }, signal)
    await connectImage(context, await getPool(context, spec.storageId!), diskImage(spec), signal)
    return
  }
  const { vmId, generation } = spec
  const name = diskName(vmId, generation)
  try {
    if (disk.isLayer) await layOnTemplate(context, spec, disk.capacityBytes, signal)
    else await createVolume(context, { name, format: 'qcow2', capacityBytes: disk.capacityBytes }, signal)
    await writeSeed(context, spec, signal)
  } catch (error) {
    if (!signal.aborted) await removeDisk(context, vmId, generation, AbortSignal.timeout(CLEANUP_TIMEOUT_MS))
    throw error
  }
}

async function describeReceiver(context: HostContext, { vmId, generation }: MachineSpec, signal: AbortSignal): Promise<Receiver> {
  const seed = await findVolume(context, seedName(vmId, generation), signal)
  if (!seed) throw new DriverError('transient', `Host ${context.hostId} has no seed of ${vmId} for the machine that arrives`)
  return {
    hostId: context.hostId,
    folder: dirname(seed.key),
    guestGroup: await guestGroup(context, signal),
    canOffload: await canOffload(context, signal),
  }
}

async function ensureMigrated(context: HostContext, spec: MachineSpec, request: MigrationRequest, signal: AbortSignal): Promise<void> {
  const found = await findMachine(context, spec.vmId, signal)
  if (!found) return
  if (await findJob(context, found.domain, signal)) {
    await watch(context, found.domain, request, UNLISTED_MS, signal)
    if (await findDomain(context, spec.vmId, signal))
      throw new DriverError(
        'transient',
        `The migration of ${found.domain.name} from host ${context.hostId}, begun by another process, failed`,
      )
    return
  }
  if (!request.isOn && spec.storageId !== null && !found.isOn && !hasHostState(spec))
    return void (await removeDomain(context, spec.vmId, signal))
  const domain = request.isOn ? await whileOn(context, found, request, signal) : await startPaused(context, spec, found, signal)
  if (!domain) return
  try {
    await migrate(context, domain, spec, request, signal)
  } catch (error) {
    // It has left, and only the answer was lost.
    if (!(await findDomain(context, spec.vmId, signal))) return
    if (!request.isOn && !signal.aborted) await ensureNotMigrating(context, spec.vmId, false, signal)
    throw error
  }
}

/** Variables of its firmware or a TPM, which only QEMU takes along. */
const hasHostState = ({ template: { firmware, tpm } }: MachineSpec): boolean => (firmware ?? 'bios') !== 'bios' || (tpm ?? false)

/** Undefined when it has left: the daemon died after the receiver had taken over. */
async function whileOn(
  context: HostContext,
  { domain, state, metadata }: MachineState,
  { hasArrived }: MigrationRequest,
  signal: AbortSignal,
): Promise<Domain | undefined> {
  if (state === DomainState.running || state === DomainState.blocked) return domain
  if (state !== DomainState.paused)
    throw new DriverError('invalid_state', `Machine ${metadata.vmId} is in state ${state}`, {
      userMessage: 'The VM was stopped meanwhile.',
    })
  if (await hasArrived()) {
    await removeDomain(context, metadata.vmId, signal)
    return undefined
  }
  await context.call(`resume ${domain.name}`, signal, (host) => host.domains.resume({ domain }))
  return domain
}

async function startPaused(context: HostContext, spec: MachineSpec, found: MachineState, signal: AbortSignal): Promise<Domain> {
  if (found.state === DomainState.paused) return found.domain
  if (found.isOn)
    throw new DriverError('invalid_state', `Machine ${spec.vmId} is in state ${found.state}`, {
      userMessage: 'The VM was started meanwhile.',
    })
  const domain = await define(context, spec, found.metadata, signal)
  await stopReaderDomain(context, spec.vmId, signal)
  await context.call(`open the disk of ${domain.name}`, signal, (host) => host.domains.create({ domain, flags: ['paused'] }))
  return domain
}

async function migrate(
  context: HostContext,
  domain: Domain,
  spec: MachineSpec,
  request: MigrationRequest,
  signal: AbortSignal,
): Promise<void> {
  const peer = peerOf(request.uri)
  if (!peer)
    throw new DriverError('unsupported', `Host ${context.hostId} cannot reach ${request.uri}: only qemu+tls:// hosts receive machines`)
  const machine = await getMachine(context, spec.vmId, signal)
  await requireAlike(context, machine, request, signal)
  await removeCheckpoints(context, machine, signal)
  const disk = diskOf(machine.xml).path
  const xml = await xmlThere(context, domain, disk === '' ? null : dirname(disk), request, signal)
  const parameters = {
    migrate_uri: Param.string(`tcp://${peer.address}`),
    listen_address: Param.string(peer.address.replace(/^\[(.*)\]$/, '$1')),
    destination_xml: Param.string(xml.live),
    persistent_xml: Param.string(xml.definition),
    ...(disk !== '' && { migrate_disks: [Param.string(OWN_DISK)] }),
    ...(request.miBPerSecond !== null && { bandwidth: Param.ullong(BigInt(request.miBPerSecond)) }),
  }
  const flags = ['live', 'peer2peer', 'persistDest', 'undefineSource', 'tls', 'autoConverge', 'abortOnError'] as const
  const perform = (...more: ('postcopy' | 'nonSharedInc' | 'nonSharedSynchronousWrites')[]): Promise<unknown> =>
    context.call(`migrate ${domain.name} to host ${request.receiver.hostId}`, signal, (host) =>
      host.migration.perform({ domain, destination: peer.uri, parameters, flags: [...flags, ...more] }, { timeoutMs: COPY_MS }),
    )
  // A write waits for the other host: a guest that writes faster than the network would never be there otherwise.
  const storage = disk === '' ? [] : (['nonSharedInc', 'nonSharedSynchronousWrites'] as const)
  // Without postcopy, a guest that writes faster than the network is slowed down until it fits. A paused one writes nothing.
  const performed = perform(...storage, ...(request.isOn ? (['postcopy'] as const) : [])).catch((error: unknown) => {
    if (!hasText(error, 'noPostcopy')) throw error
    return perform(...storage)
  })
  const stop = new AbortController()
  const isSilent = watch(context, domain, request, STALLED_MS, AbortSignal.any([signal, stop.signal])).then(
    () => true,
    (error: unknown) => {
      if (!stop.signal.aborted && !signal.aborted)
        context.log.warn({ hostId: context.hostId, domain: domain.name, err: error }, 'watching migration failed')
      return false
    },
  )
  const answered = isSilent.then((yes) => {
    if (yes) throw new DriverError('unknown_outcome', `Host ${context.hostId} does not say how the migration of ${domain.name} ended`)
    return performed
  })
  await Promise.race([performed, answered]).finally(() => stop.abort())
  await isSilent
}

/** What a running guest was promised cannot change. */
async function requireAlike(
  context: HostContext,
  { xml }: MachineState,
  { receiver, isOn }: MigrationRequest,
  signal: AbortSignal,
): Promise<void> {
  const refuse = (what: string): never => {
    throw new DriverError('unsupported', `Host ${receiver.hostId} ${what}, unlike host ${context.hostId}`, {
      userMessage: 'No other host can run this VM without a restart: stop it, then it can be moved.',
    })
  }
  if (isOn && !receiver.canOffload && (await canOffload(context, signal))) refuse('has Open vSwitch in user space')
  if (receiver.guestGroup === null && copySeclabel(xml)) refuse('cannot start a guest as a user of its own')
}

/** libvirt refuses to migrate a domain that has checkpoints. */
async function removeCheckpoints(context: HostContext, machine: MachineState, signal: AbortSignal): Promise<void> {
  const { domain } = machine
  const all = await context.call(`list checkpoints of ${domain.name}`, signal, (host) => host.checkpoints.listAll({ domain }))
  for (const { name } of all) await removeCheckpoint(context, machine, name, signal)
}

/** `folder` is that of the disk here; null in a storage backend, where only the seed is a file. */
async function xmlThere(
  context: HostContext,
  domain: Domain,
  folder: string | null,
  { receiver: there, cpus }: MigrationRequest,
  signal: AbortSignal,
): Promise<{ live: string; definition: string }> {
  const startId = randomUUID()
  const adapt = (xml: string): string => {
    const here = folder ?? dirname(/ file='([^']*\/seed-[^']*)'/.exec(xml)?.[1] ?? '')
    return moveCpus(xml, cpus)
      .replaceAll(`'${here}/`, `'${there.folder}/`)
      .replaceAll(/(<(?:image)?label>\+\d+:\+)\d+/g, `$1${there.guestGroup}`)
      .replace(/( start=)(["'])[^"']*\2/, `$1$2${startId}$2`)
  }
  return context.call(`read ${domain.name}`, signal, async (host) => ({
    live: adapt(await host.domains.getXml({ domain, flags: ['migratable', 'secure'] })),
    definition: adapt(await host.domains.getXml({ domain, flags: ['migratable', 'secure', 'inactive'] })),
  }))
}

const WATCH_INTERVAL_MS = 1_000
/** A job that begins needs a moment until it is listed. */
const UNLISTED_MS = 3_000
/** A migration that sends nothing for so long is aborted, and a daemon that does not say how one ended is not waited for any longer. */
const STALLED_MS = 60_000
const ABORT_MS = 10_000
/** Rounds over the memory that did not end in time, after which it follows the guest. */
const MAX_ROUNDS = 30

/** Until no migration has run for `patienceMs`. */
async function watch(
  context: HostContext,
  domain: Domain,
  { downtimeMs, onProgress, ...request }: MigrationRequest,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const what = `watch the migration of ${domain.name}`
  let sent: Scalar | undefined
  let [idleMs, stalledMs] = [stopwatch(), stopwatch()]
  let follows = false
  for (;;) {
    const job = await findJob(context, domain, signal)
    if (!job && idleMs() > patienceMs) return
    if (job) {
      idleMs = stopwatch()
      if (sent === undefined)
        await atRunningJob(context, what, signal, (host) => host.migration.setMaxDowntime({ domain, downtimeMs: BigInt(downtimeMs) }))
      const { data_processed: now = 0 } = job
      if (now !== sent) stalledMs = stopwatch()
      sent = now
      onProgress?.(progressOf(job))
      if (!follows && Number(job['memory_iteration'] ?? 0) > MAX_ROUNDS) {
        follows = true
        await atRunningJob(context, what, signal, (host) => host.migration.startPostCopy({ domain }))
      }
      if (stalledMs() > STALLED_MS) await atRunningJob(context, what, signal, (host) => host.domains.abortJob({ domain }))
      // A daemon that waits for its peer cannot abort: QEMU there was never asked to take anything, or does not say that it has.
      if (stalledMs() > STALLED_MS + ABORT_MS) await dropUnlessArrived(request)
    }
    await context.pause(what, WATCH_INTERVAL_MS, signal)
  }
}

async function dropUnlessArrived({ hasArrived, dropReceiver }: Pick<MigrationRequest, 'hasArrived' | 'dropReceiver'>): Promise<void> {
  try {
    if (!(await hasArrived())) await dropReceiver()
  } catch (error) {
    if (!isDriverError(error, 'unreachable', 'unknown_outcome')) throw error // it is asked again
  }
}

/** It may have ended meanwhile, or been begun without the possibility. */
const atRunningJob = (context: HostContext, what: string, signal: AbortSignal, work: (host: Host) => Promise<unknown>): Promise<unknown> =>
  context.call(what, signal, (host) =>
    work(host).catch((error: unknown) => {
      if (!hasCode(error, ErrorCode.operationInvalid, ErrorCode.noDomain)) throw error
    }),
  )

const progressOf = (job: Record<string, Scalar>) => ({
  remainingBytes: Number(job['data_remaining'] ?? 0),
  totalBytes: Number(job['data_total'] ?? 0),
})

/** The statistics of an outgoing migration; undefined when none runs. */
const findJob = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Record<string, Scalar> | undefined> =>
  call(`read the job of ${domain.name}`, signal, async (host) => {
    const job = await undefinedIfNotFound(host.domains.getJobStats({ domain })).catch((error: unknown) => {
      if (hasCode(error, ErrorCode.operationInvalid)) return undefined
      throw error
    })
    const isRunning = job?.type === JobType.bounded || job?.type === JobType.unbounded
    return isRunning && job.parameters['operation'] === JobOperation.migrationOut ? job.parameters : undefined
  })

/** Of a domain that is on, and may run already while its memory follows: its daemon refuses to tell of an incoming migration, with this code. */
const isArriving = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  call(`read the job of ${domain.name}`, signal, (host) =>
    undefinedIfNotFound(host.domains.getJobStats({ domain })).then(
      (job) => job?.parameters['operation'] === JobOperation.migrationIn && job.type !== JobType.none,
      (error: unknown) => {
        if (hasCode(error, ErrorCode.operationInvalid)) return true
        throw error
      },
    ),
  )

async function ensureNotMigrating(context: HostContext, vmId: string, isOn: boolean, signal: AbortSignal): Promise<void> {
  const domain = await findDomain(context, vmId, signal)
  if (!domain) return
  const what = `abort the migration of ${domain.name}`
  await pollUntilTrue(context, what, signal, async () => {
    if (!(await findJob(context, domain, signal))) return true
    // Refused once the guest runs there and its memory follows it.
    await atRunningJob(context, what, signal, (host) => host.domains.abortJob({ domain }))
    return false
  })
  const left = await findMachine(context, vmId, signal)
  if (left && !isOn && left.state === DomainState.paused) await forceOff(context, left.domain, signal)
}

/** For a machine that the other host has sent. */
const SETTLE_MS = 60_000

async function ensureReceived(context: HostContext, spec: MachineSpec, isOn: boolean, signal: AbortSignal): Promise<void> {
  const { vmId, generation, storageId } = spec
  const hasSettled = async (): Promise<boolean> => {
    const seen = await findMachine(context, vmId, signal)
    return !seen?.isOn || !(await isArriving(context, seen.domain, signal))
  }
  if (!(await pollUntilTrue(context, `wait for machine ${vmId}`, signal, hasSettled, { timeoutMs: SETTLE_MS })))
    throw new DriverError('transient', `Machine ${vmId} is still arriving on host ${context.hostId}`)
  const found = await findMachine(context, vmId, signal)
  if (!found && (isOn || storageId === null))
    throw new DriverError('not_found', `Machine ${vmId} has not arrived on host ${context.hostId}`)
  if (!found) await define(context, spec, { restartId: null, stop: 'done' }, signal)
  if (found && !isOn && found.isOn) {
    await forceOff(context, found.domain, signal)
    await context.call(`record stop of ${vmId}`, signal, (host) => setMetadata(host, found.domain, { ...found.metadata, stop: 'done' }))
  }
  if (found && isOn && found.state === DomainState.paused)
    await context.call(`resume ${found.domain.name}`, signal, (host) => host.domains.resume({ domain: found.domain }))
  await markComplete(context, diskName(vmId, generation), signal)
}
