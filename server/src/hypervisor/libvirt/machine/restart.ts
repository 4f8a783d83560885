// Reboots at most once per action id. An empty volume on the host is the lock: the process that creates it performs the reboot. The domain's
// metadata records that it was performed.
import type { Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import type { StopOutcome, Machines } from '../../driver.ts'
import { awaitChange, findMachine, getMachine, getRunning, isDomainOn, type MachineState } from '../domain/lookup.ts'
import { setMetadata } from '../xml/domain-metadata.ts'
import { restartName } from '../core/resource-names.ts'
import { pressPowerButton } from './power.ts'
import type { HostContext } from '../core/host-context.ts'
import { tryCreateMarker, removeVolume } from '../storage/volumes.ts'

interface RestartRequest {
  actionId: string
  graceMs: number
}

export const restartMethods = (context: HostContext): Pick<Machines, 'ensureRestarted'> => ({
  ensureRestarted: (vmId, request, signal) =>
    context.exclusive(`vm:${vmId}`, signal, () => ensureRestarted(context, vmId, request, signal)),
})

async function ensureRestarted(
  context: HostContext,
  vmId: string,
  request: RestartRequest,
  signal: AbortSignal,
): Promise<{ how: StopOutcome }> {
  const isDone = ({ metadata }: MachineState): boolean => metadata.restartId === request.actionId
  if (isDone(await getMachine(context, vmId, signal))) return { how: 'already' }
  const found = await getRunning(context, vmId, signal)
  if (!(await tryCreateMarker(context, restartName(vmId, request.actionId), signal))) {
    await awaitOther(context, found, request, signal)
    return { how: 'already' }
  }
  const how = await reboot(context, found.domain, request.graceMs, signal)
  await recordRestart(context, vmId, request.actionId, signal)
  return { how }
}

const OTHER_MS = 10_000

/** Another process holds the lock, or died with it. Whether the guest was rebooted is unknown then; a second reboot would be worse than none. */
async function awaitOther(
  context: HostContext,
  { domain, metadata }: MachineState,
  { actionId, graceMs }: RestartRequest,
  signal: AbortSignal,
): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await findMachine(context, metadata.vmId, signal))?.metadata.restartId === actionId ? true : undefined
  await awaitChange(context, domain, ['reboot'], { timeoutMs: graceMs + OTHER_MS, look }, signal)
  await recordRestart(context, metadata.vmId, actionId, signal)
}

/** Also deletes the lock of the previous restart, which the metadata no longer refers to. */
async function recordRestart(context: HostContext, vmId: string, actionId: string, signal: AbortSignal): Promise<void> {
  const found = await findMachine(context, vmId, signal)
  if (!found || found.metadata.restartId === actionId) return
  const { domain, metadata } = found
  await context.call(`record restart of ${vmId}`, signal, (host) => setMetadata(host, domain, { ...metadata, restartId: actionId }))
  if (metadata.restartId) await removeVolume(context, restartName(vmId, metadata.restartId), signal)
}

const RETRY_INTERVAL_MS = 10_000

/** libvirt turns the guest's power-off into a reset. A guest that does not react within the grace period is reset. */
async function reboot(context: HostContext, domain: Domain, graceMs: number, signal: AbortSignal): Promise<StopOutcome> {
  let hasRebooted = false
  const onReboot = (event: { domain: Domain }): void => void (hasRebooted ||= event.domain.uuid === domain.uuid)
  const end = await context.call(`listen to ${domain.name}`, signal, (host) => host.subscribe('reboot', onReboot))
  const look = async (): Promise<'rebooted' | 'off' | undefined> =>
    hasRebooted ? 'rebooted' : (await isDomainOn(context, domain, signal)) ? undefined : 'off'
  try {
    const elapsedMs = stopwatch()
    for (let leftMs = graceMs; leftMs > 0; leftMs = graceMs - elapsedMs()) {
      await pressPowerButton(context, domain, 'reboot', signal)
      const timeoutMs = Math.min(leftMs, RETRY_INTERVAL_MS)
      const seen = await awaitChange(context, domain, ['reboot', 'lifecycle'], { timeoutMs, look }, signal)
      if (seen === 'off') await context.call(`start ${domain.name} again`, signal, (host) => host.domains.create({ domain }))
      if (seen) return 'clean'
    }
  } finally {
    end()
  }
  await context.call(`reset ${domain.name}`, signal, (host) => host.domains.reset({ domain }))
  return 'forced'
}
