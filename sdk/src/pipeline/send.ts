// The innermost end of the chain: fetch, and the difference between "no answer" and "given up".
import { NetworkError } from '../errors.ts'
import type { ApiRequest, Handler, Send } from './handler.ts'

/** Redirects are not followed: they would carry the token to wherever they lead. */
export const sender =
  (fetch: typeof globalThis.fetch): Send =>
  (request) => {
    const { method, url, headers, body, signal } = request
    return orNetworkError(request, () =>
      fetch(url, { method, headers, redirect: 'manual', ...(body !== undefined && { body }), ...(signal && { signal }) }),
    )
  }

/** Reads the answer to its end, so that one which is cut off counts as none and the attempt can be repeated. */
export const whole: Handler = (next) => async (request) => {
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
    throw new NetworkError(`${method} ${url} got no whole answer: ${describe(cause)}`, { cause })
  }
}

/** fetch says only "fetch failed"; the reason is in the cause. */
function describe(error: unknown): string {
  const { message = String(error), cause } = error as { message?: string; cause?: { message?: string; code?: string } }
  const reason = cause?.message || cause?.code
  return reason ? `${message} (${reason})` : message
}
