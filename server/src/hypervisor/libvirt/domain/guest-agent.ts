// Calls to the QEMU guest agent.
import type { Domain } from '@berth/libvirt'
import { DriverError } from '../../driver.ts'
import { getRunning, type MachineState } from './lookup.ts'
import type { Machines } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'

const TIMEOUT_SECONDS = 10

/** `transient` while the agent does not respond. */
export async function callGuestAgent(
  { call, hostId }: HostContext,
  domain: Domain,
  question: { execute: string; arguments?: Record<string, unknown> },
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await call(`call ${question.execute} of the guest agent of ${domain.name}`, signal, (host) =>
    host.guests.agentCommand({ domain, command: JSON.stringify(question), timeoutSeconds: TIMEOUT_SECONDS }),
  )
  if (answer === null || answer === undefined)
    throw new DriverError('transient', `The guest agent of ${domain.name} on host ${hostId} sent an empty reply`)
  return (JSON.parse(answer) as { return?: unknown }).return
}

/** Whether the guest has opened its end of the agent channel. */
export const isAgentConnected = ({ xml, isOn }: Pick<MachineState, 'xml' | 'isOn'>): boolean =>
  isOn &&
  xml
    .all('devices/channel/target')
    .some(({ attributes }) => attributes['name']?.startsWith('org.qemu.guest_agent') && attributes['state'] === 'connected')

export const passwordMethods = (context: HostContext): Pick<Machines, 'ensurePassword'> => ({
  ensurePassword: async (vmId, { user, passwordHash }, signal) => {
    const { domain, metadata } = await getRunning(context, vmId, signal)
    if (!metadata.hasAgent)
      throw new DriverError('unsupported', `The image of ${vmId} has no agent`, {
        userMessage: 'The image of this VM has no guest agent, which is needed to set a password.',
      })
    const password = Buffer.from(passwordHash).toString('base64')
    await callGuestAgent(
      context,
      domain,
      { execute: 'guest-set-user-password', arguments: { username: user, password, crypted: true } },
      signal,
    )
  },
})
