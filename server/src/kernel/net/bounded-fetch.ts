// HTTP for servers that an operator named: they may be on a private address, but what they answer is limited in size and time, and a redirect
// of theirs leads nowhere.
import { isIP } from 'node:net'

export class BoundedFetchError extends Error {}

export type BoundedFetch = (url: string, init?: RequestInit) => Promise<Response>

/** The deadline is one for all requests of it. */
export function boundedFetch({ timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number }): BoundedFetch {
  const deadline = AbortSignal.timeout(timeoutMs)
  return async (url, init = {}) => {
    const signal = init.signal ? AbortSignal.any([deadline, init.signal]) : deadline
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      const body = await readAtMost(response, maxBytes)
      if (response.status >= 300 && response.status < 400)
        throw new BoundedFetchError(`it redirects (${response.status}), which is not followed`)
      if (response.status >= 500) throw new BoundedFetchError(`it answered ${response.status}`)
      const { status, statusText, headers } = response
      return new Response([101, 204, 205].includes(status) ? null : body, { status, statusText, headers })
    } catch (error) {
      if (error instanceof BoundedFetchError) throw error
      if (signal.aborted) throw new BoundedFetchError(`no complete answer within ${timeoutMs / 1000} seconds`, { cause: error })
      throw new BoundedFetchError(explain(error), { cause: error })
    }
  }
}

async function readAtMost(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new BoundedFetchError(`it answered more than ${maxBytes / 1024} KiB`) // leaving the loop ends the connection
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** `fetch failed` says nothing; its cause does. */
function explain(error: unknown): string {
  const { cause, message } = error as Error & { cause?: Error & { code?: string } }
  return cause ? `${cause.message}${cause.code && !cause.message.includes(cause.code) ? ` (${cause.code})` : ''}` : message
}

export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
