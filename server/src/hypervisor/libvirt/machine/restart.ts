// Reboots, at most once per action id. Who carries one out is settled on the host, by an empty volume that only one process can make;
// that it was carried out is remembered by the machine itself.
import type { Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import type { StopOutcome, Machines } from '../../driver.ts'
import { awaitChange, findMachine, getMachine, getRunning, isDomainOn, type MachineState } from '../domain/lookup.ts'
import { setMetadata } from '../xml/domain-metadata.ts'
import { restartName } from '../core/resource-names.ts'
import { pressPowerButton } from './power.ts'
import type { HostContext } from '../core/host-context.ts'
import { tryCreateMarker, removeVolume } from '../storage/volumes.ts'

interface Order {
  actionId: string
  graceMs: number
}

export const restartMethods = (context: HostContext): Pick<Machines, 'ensureRestarted'> => ({
  ensureRestarted: (vmId, order, signal) => context.exclusive(`vm:${vmId}`, signal, () => ensureRestarted(context, vmId, order, signal)),
})

async function ensureRestarted(context: HostContext, vmId: string, order: Order, signal: AbortSignal): Promise<{ how: StopOutcome }> {
  const isDone = ({ metadata }: MachineState): boolean => metadata.restartId === order.actionId
  if (isDone(await getMachine(context, vmId, signal))) return { how: 'already' }
  const found = await getRunning(context, vmId, signal)
  if (!(await tryCreateMarker(context, restartName(vmId, order.actionId), signal))) {
    await awaitOther(context, found, order, signal)
    return { how: 'already' }
  }
  const how = await reboot(context, found.domain, order.graceMs, signal)
  await remember(context, vmId, order.actionId, signal)
  return { how }
}

const OTHER_MS = 10_000

/** Another process is at it, or died over it. It is not known then whether the guest was rebooted, and twice would be once too often. */
async function awaitOther(
  context: HostContext,
  { domain, metadata }: MachineState,
  { actionId, graceMs }: Order,
  signal: AbortSignal,
): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await findMachine(context, metadata.vmId, signal))?.metadata.restartId === actionId ? true : undefined
  await awaitChange(context, domain, ['reboot'], { timeoutMs: graceMs + OTHER_MS, look }, signal)
  await remember(context, metadata.vmId, actionId, signal)
}

/** The claim of the one before is no longer needed: its own is what the machine remembers now. */
async function remember(context: HostContext, vmId: string, actionId: string, signal: AbortSignal): Promise<void> {
  const found = await findMachine(context, vmId, signal)
  if (!found || found.metadata.restartId === actionId) return
  const { domain, metadata } = found
  await context.call(`remember the restart of ${vmId}`, signal, (host) => setMetadata(host, domain, { ...metadata, restartId: actionId }))
  if (metadata.restartId) await removeVolume(context, restartName(vmId, metadata.restartId), signal)
}

const RETRY_INTERVAL_MS = 10_000

/** libvirt turns the guest's power-off into a reset. One that does not obey is reset without being asked. */
async function reboot(context: HostContext, domain: Domain, graceMs: number, signal: AbortSignal): Promise<StopOutcome> {
  let hasRebooted = false
  const heard = (event: { domain: Domain }): void => void (hasRebooted ||= event.domain.uuid === domain.uuid)
  const end = await context.call(`listen to ${domain.name}`, signal, (host) => host.subscribe('reboot', heard))
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
