// Whether a guest has come up.
import { DriverError, isDriverError, type Machines, type Readiness } from '../driver.ts'
import { giveAddresses } from './addresses.ts'
import { askAgent, isAgentConnected } from './agent.ts'
import { endRecording, lastWords, recordConsole } from './last-words.ts'
import { awaitChange, findMachine, getMachine } from './machine-state.ts'
import type { Session } from './session.ts'

export const readyVerbs = (session: Session): Pick<Machines, 'ensureReady'> => ({
  ensureReady: async (vmId, { timeoutMs }, signal) => {
    const found = await getMachine(session, vmId, signal)
    if (found.isOn && found.metadata.hasAgent) recordConsole(session, vmId, found.domain, false)
    const look = () => readinessOf(session, vmId, signal)
    const readiness = await awaitChange(session, found.domain, ['agent', 'lifecycle'], { timeoutMs, look }, signal)
    if (!readiness) throw guestFailed(session, vmId, `was not ready within ${timeoutMs} ms`)
    endRecording(session, vmId)
    if (readiness === 'reachable') await giveAddresses(session, await getMachine(session, vmId, signal), signal)
    return { readiness }
  },
})

async function readinessOf(session: Session, vmId: string, signal: AbortSignal): Promise<Readiness | undefined> {
  const found = await findMachine(session, vmId, signal)
  if (!found?.isOn) throw guestFailed(session, vmId, 'is off')
  if (!found.metadata.hasAgent) return 'booting'
  if (!isAgentConnected(found)) return undefined
  const answers = askAgent(session, found.domain, { execute: 'guest-ping' }, signal)
  return answers.then(
    (): Readiness => 'reachable',
    (error: unknown) => {
      // It answers soon, or the machine went down meanwhile, which the next look shows.
      if (isDriverError(error, 'transient', 'invalid_state')) return undefined
      throw error
    },
  )
}

function guestFailed(session: Session, vmId: string, what: string): DriverError {
  endRecording(session, vmId)
  return new DriverError('guest_failed', `Machine ${vmId} on host ${session.hostId} ${what}`, {
    sentence: 'The VM started, but its system did not come up.',
    consoleTail: lastWords(session, vmId),
  })
}
