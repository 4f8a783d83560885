// A client of the public API, with a token as any customer has.

export interface Api {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: object): Promise<T>
  delete<T>(path: string): Promise<T>
}

const TIMEOUT_MS = 30_000

export function apiAt(address: string, token: string): Api {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${address}/api/public/v1${path}`, {
      method,
      headers: { 'x-api-key': token, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = (await response.json()) as { success: boolean; data: T; error: string }
    if (!answer.success) throw new Error(answer.error)
    return answer.data
  }
  return { get: (path) => call('GET', path), post: (path, body) => call('POST', path, body), delete: (path) => call('DELETE', path) }
}

export async function requireRunning(address: string): Promise<void> {
  const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => null)
  if (!answer) throw new Error(`Berth is not running at ${address}. Start it first, in another terminal: npm start`)
  if (!answer.ok) throw new Error(`Berth at ${address} is not ready: ${await answer.text()}`)
}
