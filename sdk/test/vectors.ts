// Plays the scenarios of clients/vectors (its README.md has their format): a server that follows the script, and a client that is called.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import * as sdk from '../src/index.ts'
import { Api, type Input } from '../src/api.ts'
import type { PageQuery, Pages } from '../src/pagination.ts'

interface Answer {
  status?: number
  headers?: Record<string, string | { secondsFromNow: number }>
  body?: unknown
  text?: string
  stream?: string
  pieceBytes?: number
  end?: 'close' | 'cut' | 'open'
  broken?: 'reset' | 'truncated' | 'hang' | 'stalled'
}

interface Call {
  operation: sdk.OperationId
  path?: object
  query?: PageQuery
  body?: unknown
  dryRun?: boolean
  idempotencyKey?: string | null
  maxRetries?: number
  take?: number
}

interface ExpectedRequest {
  method: string
  path: string
  query?: Record<string, string>
  headers?: Record<string, string | { matches: string } | null>
  body?: unknown
}

interface ExpectedError {
  class: string
  message?: string
  messageIncludes?: string
}

export interface Scenario {
  name: string
  client?: { token?: string; basePath?: string; baseUrl?: string; maxRetries?: number; timeoutMs?: number }
  call?: Call
  list?: Call
  page?: Call
  events?: { after?: string; limit?: number }
  wait?: { vmId: string; actionId: string; progress?: boolean; timeoutMs?: number; maxRetries?: number }
  stream?: { after?: string; labelSelector?: string; maxRetries?: number; take: number }
  answers: Answer[]
  value?: unknown
  items?: unknown[]
  error?: ExpectedError
  requests?: ExpectedRequest[]
  idempotencyKeys?: 'same' | 'none'
  waits?: [number, number][]
  progress?: number[]
  reconnects?: string[]
}

export interface WebhookScenario {
  name: string
  payload: string
  headers: Record<string, string>
  secret: string
  now: number
  toleranceSeconds?: number
  value?: object
  error?: ExpectedError
}

interface Request {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: string
}

/** What a client did: compared with what the scenario expects of it. */
class Recording {
  value: unknown
  error: unknown
  readonly items: unknown[] = []
  readonly waits: number[] = []
  readonly progress: number[] = []
  readonly reconnects: (string | null)[] = []
}

/** Fails where the client does not behave as the scenario says. `plant` is a fault in the client. */
export async function expectPlayed(scenario: Scenario, plant: sdk.Handler[] = []): Promise<void> {
  const server = await scriptedServer(scenario.answers)
  const recording = new Recording()
  const { token = 'vmk_test', basePath = '', baseUrl = server.url, ...options } = scenario.client ?? {}
  const sleep: sdk.Sleep = async (ms) => void recording.waits.push(ms)
  try {
    const all = { ...options, baseUrl: `${baseUrl}${basePath}`, token, sleep, handlers: plant }
    recording.value = await perform(new Api(all), new sdk.Berth(all), scenario, recording)
  } catch (error) {
    recording.error = error
  } finally {
    server.close()
  }
  check(scenario, recording, server.requests)
}

async function perform(api: Api, berth: sdk.Berth, { call, list, page, events, wait, stream }: Scenario, recording: Recording) {
  if (call) return perCall(api, call)
  if (page) return pagesOf(api, page).page()
  if (list) return take(pagesOf(api, list), recording.items, list.take)
  if (events) return take(berth.events.list(events), recording.items)
  if (wait) {
    const { vmId, actionId, progress, ...options } = wait
    const onProgress = progress ? (action: sdk.Action) => void recording.progress.push(action.progress) : undefined
    return berth.waitForAction({ vmId, actionId }, { ...options, onProgress })
  }
  const { take: count, ...options } = stream!
  return take(berth.events.stream({ ...options, onReconnect: (_, after) => void recording.reconnects.push(after) }), recording.items, count)
}

function perCall(api: Api, { operation, path, query, body, dryRun, ...options }: Call): Promise<unknown> {
  return api.call(operation, { path, query: dryRun ? { ...query, dryRun } : query, body } as Input<typeof operation>, options)
}

const pagesOf = (api: Api, { operation, path, query }: Call): Pages<{ id: string }> =>
  api.pages(operation as never, { path, query } as never) as unknown as Pages<{ id: string }>

async function take(source: AsyncIterable<unknown>, items: unknown[], count = Infinity): Promise<void> {
  for await (const item of source) if (items.push(item) >= count) return
}

function check(scenario: Scenario, recording: Recording, requests: Request[]): void {
  checkOutcome(scenario, recording)
  if (scenario.items) expect(recording.items).toMatchObject(scenario.items)
  if (scenario.progress) expect(recording.progress).toEqual(scenario.progress)
  if (scenario.reconnects) expect(recording.reconnects).toEqual(scenario.reconnects)
  if (scenario.waits) {
    expect(recording.waits).toHaveLength(scenario.waits.length)
    for (const [i, [least, most]] of scenario.waits.entries()) expect(within(recording.waits[i]!, least, most), `pause ${i}`).toBe(true)
  }
  if (scenario.requests) {
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
      scenario.requests.map(({ method, path }) => `${method} ${path}`),
    )
    for (const [i, expected] of scenario.requests.entries()) checkRequest(requests[i]!, expected)
  }
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  if (scenario.idempotencyKeys === 'same') expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/^[!-~]{1,255}$/)]))
  if (scenario.idempotencyKeys === 'none') expect(keys.filter((key) => key !== undefined)).toEqual([])
}

const within = (value: number, least: number, most: number): boolean => value >= least && value <= most

export function checkOutcome(expected: { value?: unknown; error?: ExpectedError }, { value, error }: { value?: unknown; error?: unknown }) {
  if (!expected.error) {
    if (error) throw error
    if (expected.value !== undefined) expect({ value }).toMatchObject({ value: expected.value })
    return
  }
  const { class: kind, messageIncludes, ...fields } = expected.error
  expect(error).toBeInstanceOf(Error)
  expect(classOf(error as Error), String(error)).toBe(kind)
  expect(error).toMatchObject(fields)
  if (messageIncludes) expect((error as Error).message.toLowerCase()).toContain(messageIncludes.toLowerCase())
}

const CLASSES: Record<string, string> = {
  ApiError: 'api',
  NetworkError: 'network',
  TimeoutError: 'timeout',
  BerthError: 'not_berth',
  ActionFailedError: 'action_failed',
  ActionTimeoutError: 'action_timeout',
  TypeError: 'argument',
  WebhookVerificationError: 'webhook',
}

const classOf = (error: Error): string | undefined => CLASSES[error.name]

function checkRequest(request: Request, { query = {}, headers = {}, body }: ExpectedRequest): void {
  expect(request.query).toEqual(query)
  for (const [name, expected] of Object.entries(headers)) {
    const value =
      expected === null ? undefined : typeof expected === 'string' ? expected : expect.stringMatching(new RegExp(expected.matches))
    expect(request.headers[name], name).toEqual(value)
  }
  if (body !== undefined) expect(request.body === '' ? null : JSON.parse(request.body)).toEqual(body)
}

const ENDED: Answer = { status: 500, body: { success: false, error: 'The script has ended' } }

async function scriptedServer(answers: Answer[]) {
  const script = [...answers]
  const requests: Request[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = splitTarget(request.url!)
    const received = {
      method: request.method!,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: '',
    }
    requests.push(received)
    const answer = script.shift() ?? ENDED
    for await (const chunk of request) received.body += String(chunk)
    await send(response, answer)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close }
}

function splitTarget(target: string): { pathname: string; searchParams: URLSearchParams } {
  const [pathname = '', query] = target.split('?')
  return { pathname, searchParams: new URLSearchParams(query) }
}

async function send(response: ServerResponse, { status = 200, headers = {}, body, text, stream, broken, ...rest }: Answer): Promise<void> {
  if (broken) return breakOff(response, broken)
  const type = stream === undefined ? (text === undefined ? 'application/json' : 'text/html') : 'text/event-stream'
  const dated = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : dateAhead(value.secondsFromNow)])
  response.writeHead(status, { 'content-type': type, ...(Object.fromEntries(dated) as Record<string, string>) })
  if (stream === undefined) return void response.end(text ?? JSON.stringify(body))
  await sendPieces(response, Buffer.from(stream), rest.pieceBytes)
  if (rest.end === 'cut') response.destroy()
  if (rest.end === 'close') response.end()
}

const dateAhead = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString()

async function sendPieces(response: ServerResponse, bytes: Buffer, size = bytes.length): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve))
    await setImmediate()
  }
}

function breakOff(response: ServerResponse, how: NonNullable<Answer['broken']>): void {
  if (how === 'reset') response.socket?.resetAndDestroy()
  if (how === 'reset' || how === 'hang') return
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"success":true,"da', () => {
    if (how === 'truncated') response.destroy()
  })
}
