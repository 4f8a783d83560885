// Encodes calls, and builds the errors of failed ones.
import { ConnectionLostError, ProtocolError, CancelledError } from '../errors.ts'
import type { Procedure } from '../protocol/procedure.ts'
import { encodeFrame, MessageType, Status } from '../wire/frame.ts'

export function encodeCall<Args>(procedure: Procedure<Args, unknown>, args: Args, serial: number): Buffer {
  const header = { program: procedure.program, procedure: procedure.number, type: MessageType.call, serial, status: Status.ok }
  try {
    return encodeFrame(header, (to) => procedure.args.write(to, args))
  } catch (cause) {
    const message = `${procedure.name}: the arguments cannot be encoded: ${(cause as Error).message}`
    throw new ProtocolError(message, { outcome: 'not sent', procedure: procedure.name, cause })
  }
}

export function undecodable(procedure: string, cause: unknown): ProtocolError {
  return new ProtocolError(`${procedure}: the reply cannot be decoded: ${(cause as Error).message}`, { procedure, cause })
}

export function cancelled(procedure: string, { reason }: AbortSignal): CancelledError {
  return new CancelledError(`${procedure}: not sent: cancelled by the caller`, { outcome: 'not sent', procedure, cause: reason })
}

export function lost(procedure: string, reason: Error, outcome: 'unknown' | 'not sent'): ConnectionLostError {
  const known = outcome === 'unknown' ? 'outcome unknown' : 'not sent'
  return new ConnectionLostError(`${procedure}: ${known}: ${reason.message}`, { outcome, procedure, cause: reason })
}
