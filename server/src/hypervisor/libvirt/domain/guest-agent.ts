// Calls to the QEMU guest agent.
import type { Domain } from '@berth/libvirt'
import { Type, type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { DriverError } from '../../driver.ts'
import { getRunning, type MachineState } from './lookup.ts'
import type { Machines } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'

/** Of commands whose reply says nothing. */
export const Nothing = Type.Unknown()

/** From when it is sent. libvirt asks the agent for a sign of life first, for at most 5 seconds. */
const TIMEOUT_SECONDS = 10
/** With the wait for its turn: guests that answer late keep each other waiting. */
const LIMIT_MS = 60_000

/** A guest answers what it likes. */
const MAX_REPLY = 2 ** 20

/** `transient` while the agent does not respond, or not by the schema. */
export async function callGuestAgent<S extends TSchema>(
  { call, hostId }: HostContext,
  domain: Domain,
  question: { execute: string; arguments?: Record<string, unknown> },
  schema: S,
  signal: AbortSignal,
): Promise<Static<S>> {
  const limit = AbortSignal.timeout(LIMIT_MS)
  const command = { domain, command: JSON.stringify(question), timeoutSeconds: TIMEOUT_SECONDS }
  const answer = await call(
    `call ${question.execute} of the guest agent of ${domain.name}`,
    AbortSignal.any([signal, limit]),
    // A guest that is frozen does nothing.
    (host) => host.guests.agentCommand(command, { urgent: question.execute === 'guest-fsfreeze-thaw' }),
  ).catch((error: unknown) => {
    if (signal.aborted || !limit.aborted) throw error
    return null
  })
  const reply = readReply(answer, schema)
  if (reply !== undefined) return reply
  throw new DriverError('transient', `The guest agent of ${domain.name} on host ${hostId} sent no valid reply to ${question.execute}`)
}

export function readReply<S extends TSchema>(answer: string | null | undefined, schema: S): Static<S> | undefined {
  if (!answer || answer.length > MAX_REPLY) return undefined
  const value = parseJson(answer)
  const reply = typeof value === 'object' && value !== null && 'return' in value ? value.return : undefined
  return Value.Check(schema, reply) ? reply : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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
      Nothing,
      signal,
    )
  },
})
