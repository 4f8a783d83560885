// Waits until a guest has booted.
import { DriverError, isDriverError, type Machines, type Readiness } from '../../driver.ts'
import { configureGuestAddresses } from '../network/guest-addresses.ts'
import { callGuestAgent, isAgentConnected, Nothing } from '../domain/guest-agent.ts'
import { stopRecording, consoleTail, recordConsole } from '../domain/console-recorder.ts'
import { bringMemoryOnline } from '../domain/guest-size.ts'
import { awaitChange, findMachine, getMachine } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'

export const readinessMethods = (context: HostContext): Pick<Machines, 'ensureReady'> => ({
  ensureReady: async (vmId, { timeoutMs, evenWithoutAgent = false }, signal) => {
    const found = await getMachine(context, vmId, signal)
    if (found.isOn && (found.metadata.hasAgent || evenWithoutAgent)) recordConsole(context, vmId, found.domain, false)
    const look = () => readinessOf(context, vmId, evenWithoutAgent, signal)
    const readiness = await awaitChange(context, found.domain, ['agent', 'lifecycle'], { timeoutMs, look }, signal)
    if (!readiness) throw guestFailed(context, vmId, `was not ready within ${timeoutMs} ms`)
    stopRecording(context, vmId)
    if (readiness === 'reachable') {
      await bringMemoryOnline(context, found.domain, 0, signal)
      await configureGuestAddresses(context, await getMachine(context, vmId, signal), signal)
    }
    return { readiness }
  },
})

async function readinessOf(
  context: HostContext,
  vmId: string,
  evenWithoutAgent: boolean,
  signal: AbortSignal,
): Promise<Readiness | undefined> {
  const found = await findMachine(context, vmId, signal)
  if (!found?.isOn) throw guestFailed(context, vmId, 'is off')
  if (!found.metadata.hasAgent && !evenWithoutAgent) return 'booting'
  if (!isAgentConnected(found)) return undefined
  const answers = callGuestAgent(context, found.domain, { execute: 'guest-ping' }, Nothing, signal)
  return answers.then(
    (): Readiness => 'reachable',
    (error: unknown) => {
      // The agent answers later, or the VM went off, which the next check shows.
      if (isDriverError(error, 'transient', 'invalid_state')) return undefined
      throw error
    },
  )
}

function guestFailed(context: HostContext, vmId: string, what: string): DriverError {
  stopRecording(context, vmId)
  return new DriverError('guest_failed', `Machine ${vmId} on host ${context.hostId} ${what}`, {
    userMessage: 'The VM was started, but its operating system did not boot.',
    consoleTail: consoleTail(context, vmId),
  })
}
