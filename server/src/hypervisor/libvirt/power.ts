// On and off.
import { DomainState, ErrorCode, hasCode, type Domain } from '@berth/libvirt'
import { stopwatch } from '../../kernel/clock.ts'
import { DriverError, type Ending, type Machines, type MachineSpec } from '../driver.ts'
import { orMissing } from './errors.ts'
import { recordConsole } from './last-words.ts'
import { ensureLease } from './leases.ts'
import { awaitChange, findMachine, isDomainOn, type MachineState } from './machine-state.ts'
import { setMetadata, type Metadata } from './metadata.ts'
import { filterName } from './names.ts'
import { endReader } from './rest-copy.ts'
import type { Session } from './session.ts'
import { define, NOTHING, requireSameShape } from './shape.ts'

export const powerVerbs = (session: Session): Pick<Machines, 'ensureRunning' | 'ensureStopped'> => ({
  ensureRunning: (spec, signal) => session.alone(`vm:${spec.vmId}`, signal, () => ensureRunning(session, spec, signal)),
  ensureStopped: (vmId, { graceMs }, signal) => session.alone(`vm:${vmId}`, signal, () => ensureStopped(session, vmId, graceMs, signal)),
})

async function ensureRunning(session: Session, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const found = await settled(session, spec.vmId, signal)
  if (found?.isOn) {
    requireSameShape(found, spec)
    await noteStop(session, found, null, signal)
    return goOn(session, found, signal)
  }
  await requireFilter(session, spec.vmId, signal)
  const domain = await define(session, spec, { ...NOTHING, ...(found && { restartId: found.metadata.restartId }) }, signal)
  for (const nic of spec.nics) await ensureLease(session, nic, signal)
  await endReader(session, spec.vmId, signal)
  await start(session, domain, spec, signal)
}

/** A guest can put itself to sleep whatever its machine offers, and that is not a pause. */
async function goOn({ call }: Session, { domain, state }: MachineState, signal: AbortSignal): Promise<void> {
  if (state === DomainState.paused) await call(`resume ${domain.name}`, signal, (host) => host.domains.resume({ domain }))
  if (state === DomainState.pmsuspended) await call(`wake ${domain.name}`, signal, (host) => host.domains.wakeUp({ domain }))
}

const SETTLE_MS = 30_000

/** A machine that is just going down is waited for. */
async function settled(session: Session, vmId: string, signal: AbortSignal): Promise<MachineState | undefined> {
  const found = await findMachine(session, vmId, signal)
  if (found?.state !== DomainState.shutdown) return found
  await awaitOff(session, found.domain, SETTLE_MS, signal)
  return findMachine(session, vmId, signal)
}

/** libvirt would refuse it as well, but only when everything else is done. */
async function requireFilter({ call, hostId }: Session, vmId: string, signal: AbortSignal): Promise<void> {
  const filter = await call(`look for the filter of ${vmId}`, signal, (host) =>
    orMissing(host.filters.lookupByName({ name: filterName(vmId) })),
  )
  if (!filter) throw new DriverError('invalid_state', `Machine ${vmId} has no filter on host ${hostId}; it may not run without one`)
}

/** Another process may have started it in the meantime, which is as good, if it is the same machine. */
async function start(session: Session, domain: Domain, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const isOurs = await session.call(`start ${spec.vmId}`, signal, (host) =>
    host.domains.create({ domain }).then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, ErrorCode.operationInvalid) && /already running/.test(error.message)) return false
        throw error
      },
    ),
  )
  if (isOurs && spec.template.hasAgent) recordConsole(session, spec.vmId, domain, true)
  const found = isOurs ? undefined : await findMachine(session, spec.vmId, signal)
  if (found) requireSameShape(found, spec)
}

async function ensureStopped(session: Session, vmId: string, graceMs: number, signal: AbortSignal): Promise<{ how: Ending }> {
  const found = await findMachine(session, vmId, signal)
  if (!found) return { how: 'already' }
  const how = found.isOn ? await stop(session, found, graceMs, signal) : 'already'
  // A guest that went off by itself was not stopped by us, although it is off as it should be.
  if (found.isOn || found.metadata.stop) await noteStop(session, found, 'done', signal)
  return { how }
}

/** The order is left behind when this fails: it may arrive all the same, and was ours then. */
async function stop(session: Session, found: MachineState, graceMs: number, signal: AbortSignal): Promise<Ending> {
  const { domain, state } = found
  await noteStop(session, found, 'ordered', signal)
  const canObey = graceMs > 0 && state !== DomainState.paused
  if (canObey && (await askToStop(session, domain, graceMs, signal))) return 'clean'
  return (await cutOff(session, domain, signal)) ? 'forced' : 'clean'
}

const noteStop = async (
  { call }: Session,
  { domain, metadata }: MachineState,
  note: Metadata['stop'],
  signal: AbortSignal,
): Promise<void> => {
  if (metadata.stop === note) return
  await call(`note the stop of ${domain.name}`, signal, (host) => orMissing(setMetadata(host, domain, { ...metadata, stop: note })))
}

/** So often the power button is pressed: a guest that is still booting does not feel it. */
const PRESS_AGAIN_MS = 5_000

async function askToStop(session: Session, domain: Domain, graceMs: number, signal: AbortSignal): Promise<boolean> {
  const elapsedMs = stopwatch()
  for (let leftMs = graceMs; leftMs > 0; leftMs = graceMs - elapsedMs()) {
    await pressPowerButton(session, domain, 'shutdown', signal)
    if (await awaitOff(session, domain, Math.min(leftMs, PRESS_AGAIN_MS), signal)) return true
  }
  return false
}

/** Whoever finds it off already has what he wanted; the next look shows it. */
export const pressPowerButton = ({ call }: Session, domain: Domain, purpose: 'shutdown' | 'reboot', signal: AbortSignal): Promise<void> =>
  call(`ask ${domain.name} for a ${purpose}`, signal, (host) =>
    host.domains[purpose]({ domain, flags: ['acpiPowerButton'] }).catch(unlessOff),
  )

async function awaitOff(session: Session, domain: Domain, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const look = async (): Promise<true | undefined> => ((await isDomainOn(session, domain, signal)) ? undefined : true)
  return (await awaitChange(session, domain, ['lifecycle'], { timeoutMs, look }, signal)) ?? false
}

/** False when it went off by itself just before. */
export const cutOff = ({ call }: Session, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  call(`cut off ${domain.name}`, signal, async (host) => {
    const cut = host.domains.destroy({ domain }).then(() => true)
    return (await cut.catch(unlessOff)) ?? false
  })

function unlessOff(error: unknown): undefined {
  if (hasCode(error, ErrorCode.noDomain) || (hasCode(error, ErrorCode.operationInvalid) && /not running/.test(error.message)))
    return undefined
  throw error
}
