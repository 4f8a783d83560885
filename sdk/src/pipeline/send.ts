// The innermost handler: fetch, with network failures as NetworkError and cancellations as the reason of the signal.
import { NetworkError } from '../errors.ts'
import type { ApiRequest, Handler, Send } from './handler.ts'

/** Redirects are not followed: they would send the token to another host. */
export const fetchWith =
  (fetch: typeof globalThis.fetch): Send =>
  (request) => {
    const { method, url, headers, body, signal } = request
    return orNetworkError(request, () =>
      fetch(url, { method, headers, redirect: 'manual', ...(body !== undefined && { body }), ...(signal && { signal }) }),
    )
  }

/** Reads the body to its end inside the retries, so that a truncated response is retried like a missing one. */
export const bufferBody: Handler = (next) => async (request) => {
  const response = await next(request)
  if (response.body === null) return response
  const text = await orNetworkError(request, () => response.text())
  return new Response(text || null, { status: response.status, statusText: response.statusText, headers: response.headers })
}

export async function orNetworkError<T>({ method, url, signal }: Pick<ApiRequest, 'method' | 'url' | 'signal'>, work: () => Promise<T>) {
  try {
    return await work()
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw new NetworkError(`${method} ${url} got no complete response: ${describe(cause)}`, { cause })
  }
}

/** The message of fetch is only "fetch failed"; the reason is in `cause`. */
function describe(error: unknown): string {
  const { message = String(error), cause } = error as { message?: string; cause?: { message?: string; code?: string } }
  const reason = cause?.message || cause?.code
  return reason ? `${message} (${reason})` : message
}
