// Shell scripts of ours that run in a guest, through its agent.
import type { Domain } from '@berth/libvirt'
import { Type } from 'typebox'
import { DriverError } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntil } from '../core/poll.ts'
import { callGuestAgent } from './guest-agent.ts'

const Begun = Type.Object({ pid: Type.Integer() })
const Status = Type.Object({
  exited: Type.Boolean(),
  exitcode: Type.Optional(Type.Integer()),
  'out-data': Type.Optional(Type.String({ maxLength: 2 ** 17 })),
})

/** Scripts end within seconds, but a guest may say for ever that they have not. */
const SCRIPT_TIMEOUT_MS = 30_000

export interface ScriptResult {
  exitCode: number
  /** What it wrote, where it was asked for. The guest may say what it likes. */
  output: string
}

/** `args` are `$0`, `$1` and so on. `transient` where the guest does not end it in time. */
export async function runScript(
  context: HostContext,
  domain: Domain,
  script: string,
  args: string[],
  signal: AbortSignal,
  wantsOutput = false,
): Promise<ScriptResult> {
  const command = { path: '/bin/sh', arg: ['-c', script, ...args], ...(wantsOutput && { 'capture-output': true }) }
  const { pid } = await callGuestAgent(context, domain, { execute: 'guest-exec', arguments: command }, Begun, signal)
  const read = async (): Promise<ScriptResult | undefined> => {
    const status = { execute: 'guest-exec-status', arguments: { pid } }
    const { exited, exitcode = -1, 'out-data': output = '' } = await callGuestAgent(context, domain, status, Status, signal)
    return exited ? { exitCode: exitcode, output: Buffer.from(output, 'base64').toString() } : undefined
  }
  const poll = { timeoutMs: SCRIPT_TIMEOUT_MS }
  const result = await pollUntil(context, `run a script in the guest of ${domain.name}`, signal, read, poll)
  if (result !== undefined) return result
  throw new DriverError('transient', `The guest of ${domain.name} did not end a script within ${SCRIPT_TIMEOUT_MS} ms`)
}
