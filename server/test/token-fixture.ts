// Tokens by the API, made by tokens and by people.
import { givenBrowser } from './browser.ts'
import type { Answer, TestApp } from './harness.ts'

export type Client = Pick<Awaited<ReturnType<TestApp['given']['customer']>>, 'get' | 'post' | 'patch' | 'delete'>
export type Json = Answer['body']['data']

export function tokenFixture(app: TestApp) {
  const make = (client: Client, input: object = {}, headers?: Record<string, string>) =>
    client.post('/tokens', { name: 'laptop', scopes: ['vms:read'], ...input }, headers)
  const made = async (client: Client, input: object = {}) => {
    const { status, body } = await make(client, input)
    if (status !== 201) throw new Error(`${status}: ${body.error}`)
    const data = body.data as { id: string; secret: string; scopes: string[]; expiresAt: string | null; allowedIps: string[] }
    return { ...data, ...app.clientOf(data.secret) }
  }
  /** A user: the same routes, with a session. */
  const visitor = async () => {
    const browser = await givenBrowser(app)
    return {
      ...browser,
      get: (path: string) => browser.get(`/v1${path}`),
      post: (path: string, body?: unknown, headers?: Record<string, string>) =>
        browser.post(path.startsWith('/re') ? path : `/v1${path}`, body, headers),
      patch: (path: string, body?: unknown) => browser.patch(`/v1${path}`, body),
      delete: (path: string) => browser.delete(`/v1${path}`),
    }
  }
  const inOneHour = () => new Date(app.clock.now().getTime() + 3_600_000).toISOString()
  const refusal = async (answer: Promise<{ status: number; headers: Record<string, string>; body: { error: string } }>) => {
    const { status, headers, body } = await answer
    return [status, headers['x-error-code'], body.error]
  }
  return { make, made, visitor, inOneHour, refusal }
}
