// Reboots, at most once per action id. Who carries one out is settled on the host, by an empty volume that only one process can make;
// that it was carried out is remembered by the machine itself.
import type { Domain } from '@berth/libvirt'
import { stopwatch } from '../../kernel/clock.ts'
import type { Ending, Machines } from '../driver.ts'
import { awaitChange, findMachine, getMachine, getRunning, isDomainOn, type MachineState } from './machine-state.ts'
import { setMetadata } from './metadata.ts'
import { restartName } from './names.ts'
import { pressPowerButton } from './power.ts'
import type { Session } from './session.ts'
import { claim, removeVolume } from './volumes.ts'

interface Order {
  actionId: string
  graceMs: number
}

export const restartVerbs = (session: Session): Pick<Machines, 'ensureRestarted'> => ({
  ensureRestarted: (vmId, order, signal) => session.alone(`vm:${vmId}`, signal, () => ensureRestarted(session, vmId, order, signal)),
})

async function ensureRestarted(session: Session, vmId: string, order: Order, signal: AbortSignal): Promise<{ how: Ending }> {
  const isDone = ({ metadata }: MachineState): boolean => metadata.restartId === order.actionId
  if (isDone(await getMachine(session, vmId, signal))) return { how: 'already' }
  const found = await getRunning(session, vmId, signal)
  if (!(await claim(session, restartName(vmId, order.actionId), signal))) {
    await awaitOther(session, found, order, signal)
    return { how: 'already' }
  }
  const how = await reboot(session, found.domain, order.graceMs, signal)
  await remember(session, vmId, order.actionId, signal)
  return { how }
}

const OTHER_MS = 10_000

/** Another process is at it, or died over it. It is not known then whether the guest was rebooted, and twice would be once too often. */
async function awaitOther(
  session: Session,
  { domain, metadata }: MachineState,
  { actionId, graceMs }: Order,
  signal: AbortSignal,
): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await findMachine(session, metadata.vmId, signal))?.metadata.restartId === actionId ? true : undefined
  await awaitChange(session, domain, ['reboot'], { timeoutMs: graceMs + OTHER_MS, look }, signal)
  await remember(session, metadata.vmId, actionId, signal)
}

/** The claim of the one before is no longer needed: its own is what the machine remembers now. */
async function remember(session: Session, vmId: string, actionId: string, signal: AbortSignal): Promise<void> {
  const found = await findMachine(session, vmId, signal)
  if (!found || found.metadata.restartId === actionId) return
  const { domain, metadata } = found
  await session.call(`remember the restart of ${vmId}`, signal, (host) => setMetadata(host, domain, { ...metadata, restartId: actionId }))
  if (metadata.restartId) await removeVolume(session, restartName(vmId, metadata.restartId), signal)
}

const PRESS_AGAIN_MS = 10_000

/** libvirt turns the guest's power-off into a reset. One that does not obey is reset without being asked. */
async function reboot(session: Session, domain: Domain, graceMs: number, signal: AbortSignal): Promise<Ending> {
  let hasRebooted = false
  const heard = (event: { domain: Domain }): void => void (hasRebooted ||= event.domain.uuid === domain.uuid)
  const end = await session.call(`listen to ${domain.name}`, signal, (host) => host.subscribe('reboot', heard))
  const look = async (): Promise<'rebooted' | 'off' | undefined> =>
    hasRebooted ? 'rebooted' : (await isDomainOn(session, domain, signal)) ? undefined : 'off'
  try {
    const elapsedMs = stopwatch()
    for (let leftMs = graceMs; leftMs > 0; leftMs = graceMs - elapsedMs()) {
      await pressPowerButton(session, domain, 'reboot', signal)
      const timeoutMs = Math.min(leftMs, PRESS_AGAIN_MS)
      const seen = await awaitChange(session, domain, ['reboot', 'lifecycle'], { timeoutMs, look }, signal)
      if (seen === 'off') await session.call(`start ${domain.name} again`, signal, (host) => host.domains.create({ domain }))
      if (seen) return 'clean'
    }
  } finally {
    end()
  }
  await session.call(`reset ${domain.name}`, signal, (host) => host.domains.reset({ domain }))
  return 'forced'
}
