// The scenarios that the clients of all languages share (clients/vectors), and every operation with its example.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyWebhook, ROUTES, type Handler, type OperationId, type WebhookEvent } from '../src/index.ts'
import { checkOutcome, expectPlayed, type Scenario, type WebhookScenario } from './vectors.ts'

const root = join(import.meta.dirname, '../..')
const read = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8')) as T

/** Changes every request and every answer that is not a stream. */
const changed =
  (request: (url: URL, headers: Headers) => void, answer: (text: string) => string = (text) => text): Handler =>
  (next) =>
  async (original) => {
    const url = new URL(original.url)
    const headers = new Headers(original.headers)
    request(url, headers)
    const response = await next({ ...original, url: url.href, headers })
    if (response.headers.get('content-type') === 'text/event-stream') return response
    return new Response(answer(await response.text()), response)
  }
const unchanged = (): void => {}

/** A fault for each file, in the words of its README. */
const FAULTS: Record<string, Handler> = {
  requests: changed((url) => void (url.pathname = decodeURIComponent(url.pathname))),
  answers: changed(unchanged, (text) => text.replace(/"data":.*/, '"data":{}}')),
  pagination: changed((url) => url.searchParams.has('cursor') && url.searchParams.delete('labelSelector')),
  errors: changed(unchanged, (text) => text.replace(/"code":"\w+"/, '"code":"internal_error"')),
  retries: changed((_, headers) => headers.set('idempotency-key', crypto.randomUUID())),
  actions: changed(unchanged, (text) => text.replace('"FAILED"', '"COMPLETED"')),
  stream: changed((_, headers) => headers.delete('last-event-id')),
}

describe.each(Object.keys(FAULTS))('%s.json', (file) => {
  const scenarios = read<Scenario[]>(`clients/vectors/${file}.json`)

  test.each(scenarios)('$name', (scenario) => expectPlayed(scenario))

  test('notices the planted fault', async () => {
    const verdicts = await Promise.allSettled(scenarios.map((scenario) => expectPlayed(scenario, [FAULTS[file]!])))
    expect(verdicts.filter(({ status }) => status === 'rejected')).not.toEqual([])
  })
})

type Verify = typeof verifyWebhook

async function expectVerified(
  { payload, headers, secret, now, toleranceSeconds, ...expected }: WebhookScenario,
  verify: Verify,
): Promise<void> {
  const options = { now: new Date(now * 1_000), ...(toleranceSeconds !== undefined && { toleranceSeconds }) }
  const result = verify(payload, headers, secret, options)
  checkOutcome(
    expected,
    await result.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  )
}

describe('webhooks.json', () => {
  const scenarios = read<WebhookScenario[]>('clients/vectors/webhooks.json')

  test.each(scenarios)('$name', (scenario) => expectVerified(scenario, verifyWebhook))

  test('notices the planted fault', async () => {
    const trustful: Verify = async (payload) => JSON.parse(String(payload)) as WebhookEvent
    const verdicts = await Promise.allSettled(scenarios.map((scenario) => expectVerified(scenario, trustful)))
    expect(verdicts.filter(({ status }) => status === 'rejected')).not.toEqual([])
  })
})

interface Example {
  operationId: OperationId
  method: string
  path: string
  body?: object
  status: number
  answer: { data: unknown }
}

describe('openapi/examples.json', () => {
  const examples = read<Example[]>('openapi/examples.json')

  test('has every operation', () => {
    expect(examples.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(ROUTES).toSorted())
  })

  test.each(examples)('$operationId', ({ operationId, method, path, body, status, answer }) => {
    const url = new URL(path, 'http://127.0.0.1')
    const values = new RegExp(`^${ROUTES[operationId].path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(url.pathname)!.groups ?? {}
    const ids = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decodeURIComponent(value)]))
    const query = Object.fromEntries(url.searchParams)
    return expectPlayed({
      name: operationId,
      call: { operation: operationId, path: ids, query, body },
      answers: [{ status, body: answer }],
      requests: [{ method, path: `/api/public/v1${url.pathname}`, query, body: body ?? null }],
      value: answer.data,
    })
  })
})
