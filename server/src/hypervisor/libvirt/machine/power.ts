// Starts and stops VMs.
import { DomainState, ErrorCode, hasCode, type Domain, type Host } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { systemOf, type StopOutcome, type Machines, type MachineSpec } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { recordConsole } from '../domain/console-recorder.ts'
import { awaitChange, findMachine, isDomainOn, isOn, type MachineState } from '../domain/lookup.ts'
import { setMetadata, type Metadata } from '../xml/domain-metadata.ts'
import { stopReaderDomain } from '../domain/reader-domain.ts'
import type { HostContext } from '../core/host-context.ts'
import { define, NO_SAVED_STATE, requireSameSpec } from './definition.ts'

export const powerMethods = (context: HostContext): Pick<Machines, 'ensureRunning' | 'ensureResumed' | 'ensureStopped'> => ({
  ensureRunning: (spec, signal) => context.exclusive(`vm:${spec.vmId}`, signal, () => ensureRunning(context, spec, signal)),
  ensureResumed: (vmId, signal) =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const found = await findMachine(context, vmId, signal)
      if (found) await resumeOrWake(context, found, signal)
    }),
  ensureStopped: (vmId, { graceMs }, signal) =>
    context.exclusive(`vm:${vmId}`, signal, () => ensureStopped(context, vmId, graceMs, signal)),
})

async function ensureRunning(context: HostContext, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const found = await findStable(context, spec.vmId, signal)
  if (found?.isOn) {
    await requireSameSpec(context, found, spec, signal)
    await recordStopIntent(context, found, null, signal)
    return resumeOrWake(context, found, signal)
  }
  const domain = await define(context, spec, { ...NO_SAVED_STATE, ...(found && { restartId: found.metadata.restartId }) }, signal)
  await stopReaderDomain(context, spec.vmId, signal)
  await start(context, domain, spec, signal)
}

/** A guest can suspend itself even with ACPI sleep disabled; that takes a wake-up instead of a resume. */
async function resumeOrWake({ call }: HostContext, { domain, state }: MachineState, signal: AbortSignal): Promise<void> {
  if (state === DomainState.paused) await call(`resume ${domain.name}`, signal, (host) => host.domains.resume({ domain }))
  if (state === DomainState.pmsuspended) await call(`wake ${domain.name}`, signal, (host) => host.domains.wakeUp({ domain }))
}

const SETTLE_MS = 30_000

/** Waits for a domain that is shutting down. */
async function findStable(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState | undefined> {
  const found = await findMachine(context, vmId, signal)
  if (found?.state !== DomainState.shutdown) return found
  await awaitOff(context, found.domain, SETTLE_MS, signal)
  return findMachine(context, vmId, signal)
}

/** Another process may have started it meanwhile, which is fine for the same spec. */
async function start(context: HostContext, domain: Domain, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const isOwn = await context.call(`start ${spec.vmId}`, signal, (host) =>
    host.domains.create({ domain }).then(
      () => true,
      async (error: unknown) => {
        if (hasCode(error, ErrorCode.operationInvalid) && (await isOn(host, domain))) return false
        throw error
      },
    ),
  )
  if (isOwn && systemOf(spec).hasAgent) recordConsole(context, spec.vmId, domain, true)
  const found = isOwn ? undefined : await findMachine(context, spec.vmId, signal)
  if (found) await requireSameSpec(context, found, spec, signal)
}

async function ensureStopped(context: HostContext, vmId: string, graceMs: number, signal: AbortSignal): Promise<{ how: StopOutcome }> {
  const found = await findMachine(context, vmId, signal)
  if (!found) return { how: 'already' }
  const how = found.isOn ? await stop(context, found, graceMs, signal) : 'already'
  // A guest that shut itself down is off as requested, but was not stopped by us.
  if (found.isOn || found.metadata.stop) await recordStopIntent(context, found, 'done', signal)
  return { how }
}

/** A failure leaves the recorded intent: the request may still take effect, and is attributed to us then. */
async function stop(context: HostContext, found: MachineState, graceMs: number, signal: AbortSignal): Promise<StopOutcome> {
  const { domain, state } = found
  await recordStopIntent(context, found, 'ordered', signal)
  const canShutDown = graceMs > 0 && state !== DomainState.paused
  if (canShutDown && (await shutDownGracefully(context, domain, graceMs, signal))) return 'clean'
  return (await forceOff(context, domain, signal)) ? 'forced' : 'clean'
}

const recordStopIntent = async (
  { call }: HostContext,
  { domain, metadata }: MachineState,
  note: Metadata['stop'],
  signal: AbortSignal,
): Promise<void> => {
  if (metadata.stop === note) return
  await call(`record stop of ${domain.name}`, signal, (host) => undefinedIfNotFound(setMetadata(host, domain, { ...metadata, stop: note })))
}

/** A guest that is still booting ignores the power button, so it is pressed repeatedly. */
const RETRY_INTERVAL_MS = 5_000

async function shutDownGracefully(context: HostContext, domain: Domain, graceMs: number, signal: AbortSignal): Promise<boolean> {
  const elapsedMs = stopwatch()
  for (let leftMs = graceMs; leftMs > 0; leftMs = graceMs - elapsedMs()) {
    await pressPowerButton(context, domain, 'shutdown', signal)
    if (await awaitOff(context, domain, Math.min(leftMs, RETRY_INTERVAL_MS), signal)) return true
  }
  return false
}

/** Ignores a domain that is off already; the next state check shows it. */
export const pressPowerButton = (
  { call }: HostContext,
  domain: Domain,
  purpose: 'shutdown' | 'reboot',
  signal: AbortSignal,
): Promise<void> =>
  call(`request a ${purpose} of ${domain.name}`, signal, (host) =>
    host.domains[purpose]({ domain, flags: ['acpiPowerButton'] }).catch(ignoreIfOff(host, domain)),
  )

async function awaitOff(context: HostContext, domain: Domain, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const look = async (): Promise<true | undefined> => ((await isDomainOn(context, domain, signal)) ? undefined : true)
  return (await awaitChange(context, domain, ['lifecycle'], { timeoutMs, look }, signal)) ?? false
}

/** False when it was off already. */
export const forceOff = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  call(`destroy ${domain.name}`, signal, async (host) => {
    const destroyed = host.domains.destroy({ domain }).then(() => true)
    return (await destroyed.catch(ignoreIfOff(host, domain))) ?? false
  })

const ignoreIfOff =
  (host: Host, domain: Domain) =>
  async (error: unknown): Promise<undefined> => {
    const isRefusal = hasCode(error, ErrorCode.noDomain, ErrorCode.operationInvalid)
    if (!isRefusal || (await isOn(host, domain))) throw error
  }
