import { ProtocolError } from '../src/index.ts'

/** What `attempt` throws, if anything. */
export function problem(attempt: () => unknown): unknown {
  try {
    attempt()
    return undefined
  } catch (error) {
    return error
  }
}

export function isNoneOrOfProtocol(error: unknown): boolean {
  return error === undefined || error instanceof ProtocolError
}
