// The payload of a message with status "error".
import { RemoteError } from '../errors.ts'
import { ErrorCode } from '../protocol/constants.ts'
import { domain, named } from '../protocol/structs.ts'
import { decode, int, optional, str, struct } from '../xdr/types.ts'

export const errorPayload = struct({
  code: int,
  origin: int,
  message: optional(str),
  level: int,
  domain: optional(domain),
  text1: optional(str),
  text2: optional(str),
  text3: optional(str),
  int1: int,
  int2: int,
  network: optional(named),
})

/** Aborting a stream sends no payload at all. */
export function decodeError(procedure: string, payload: Buffer): RemoteError {
  if (payload.length === 0) return new RemoteError(procedure, { code: 0, origin: 0, level: 2, message: 'the daemon aborted', details: [] })
  const { text1, text2, text3, int1, ...error } = decode(errorPayload, payload)
  const errno = error.code === ErrorCode.system ? int1 : undefined
  return new RemoteError(procedure, { ...error, errno, details: [text1, text2, text3].filter((text) => text !== undefined) })
}
