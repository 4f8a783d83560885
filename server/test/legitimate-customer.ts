// One customer who works as usual while the product is attacked. Quiet and attacked windows take turns, so that whatever else this machine
// does happens in both, and the medians of all rounds are compared. While they are out of bounds rounds are added, up to a limit: noise
// averages out, and an attack that harms does not.
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { openAttacker, type Attack, type Attacker, type Statuses } from './attacker.ts'
import { testDatabase, type Answer } from './harness.ts'
import { generateKey } from './openssh-keys.ts'
import { berthdJson, service, type Service, type Settings } from './processes.ts'

/** As a reverse proxy would report it. */
export const HOME = '198.51.100.7'
const LEAST_ROUNDS = 7
const MOST_ROUNDS = 20
const REQUESTS_PER_WINDOW = 90
const PAUSE_MS = 8
/** Slower than this is felt; what stays below it is no harm, however fast it was before. */
const FLOOR_MS = 8

export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Answer['body']
}

export interface Target extends Service {
  settings: Settings
  /** Without a path. */
  origin: string
}

/** An API process that believes X-Forwarded-For, on a database of its own, with counters in PostgreSQL. */
export async function startTarget(command: 'api' | 'up' = 'api', more: Settings = {}): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-attacked-'))
  afterAll(() => rm(dataDir, { recursive: true }))
  const settings = {
    BERTH_DATABASE_URL: await testDatabase(),
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_METRICS_PORT: '0',
    BERTH_TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  }
  const running = await service(settings, command)
  afterAll(() => running.kill('SIGTERM'))
  return { ...running, settings, origin: new URL(running.url).origin }
}

const agent = new Agent({ keepAlive: true })

/** Over a connection that is kept, as clients do. */
export const send = (url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body)
    const all = { ...headers, ...(content !== undefined && { 'content-type': 'application/json' }) }
    const sending = request(url, { method, agent, headers: all }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text += more))
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json')
        resolve({ status: response.statusCode!, headers: response.headers, body: isJson ? JSON.parse(text) : text })
      })
    })
    sending.on('error', reject)
    sending.end(content)
  })

export interface Customer {
  email: string
  token: string
  /** One round of ordinary requests, each of which must succeed; returns how long each took. */
  work(): Promise<number[]>
}

let customers = 0

export async function legitimateCustomer({ settings, url }: Target): Promise<Customer> {
  const email = `customer${++customers}@example.com`
  await berthdJson(settings, 'account', 'create', '--email', email)
  await berthdJson(settings, 'account', 'credit', '--account', email, '--amount', '100.00')
  const options = ['--account', email, '--name', 'test', '--scopes', '*', '--rate-limit', '100000']
  const { token } = (await berthdJson(settings, 'token', 'create', ...options)) as { token: string }
  const headers = { 'x-api-key': token, 'x-forwarded-for': HOME }
  const ask = async (method: string, path: string, expected: number, body?: unknown): Promise<[Reply, number]> => {
    const elapsed = stopwatch()
    const reply = await send(`${url}${path}`, method, headers, body)
    const ms = elapsed()
    expect([method, path, reply.status, reply.body.error]).toEqual([method, path, expected, undefined])
    return [reply, ms]
  }
  const [region, template] = [await ask('GET', '/regions', 200), await ask('GET', '/os-templates/debian-12', 200)].map(
    ([reply]) => reply.body.data,
  )
  const input = { regionId: region[0].id, osTemplateId: template.id, hostname: 'web-1' }
  const vmId = (await ask('POST', '/vms', 202, input))[0].body.data.vm.id as string
  const key = generateKey().line
  return {
    email,
    token,
    async work() {
      const [, list] = await ask('GET', '/vms', 200)
      await sleep(PAUSE_MS)
      const [, one] = await ask('GET', `/vms/${vmId}`, 200)
      await sleep(PAUSE_MS)
      const [added, post] = await ask('POST', '/ssh-keys', 201, { name: 'laptop', publicKey: key })
      await sleep(PAUSE_MS)
      const [, gone] = await ask('DELETE', `/ssh-keys/${added.body.data.id}`, 200)
      await sleep(PAUSE_MS)
      return [list, one, post, gone]
    },
  }
}

export interface Impact {
  /** The p95 of the median window, in milliseconds. */
  quietMs: number
  attackedMs: number
  statuses: Statuses
}

/** A window of measurements, and which of them counts. */
const P95 = { perWindow: REQUESTS_PER_WINDOW, share: 0.95 }

/** Measures `work` in turns without and with the attack. */
export async function measureImpact(attack: Attack, work: () => Promise<number[]>, window = P95): Promise<Impact> {
  const attacker = openAttacker(attack)
  try {
    return await measure(attacker, work, window)
  } finally {
    await attacker.end()
  }
}

async function measure(attacker: Attacker, work: () => Promise<number[]>, { perWindow, share }: typeof P95): Promise<Impact> {
  const timed = async (): Promise<number> => {
    const all: number[] = []
    while (all.length < perWindow) all.push(...(await work()))
    return at(all, share)
  }
  await timed() // code is compiled and connections are made
  await attacker.during(timed)
  const [quiet, attacked]: [number[], number[]] = [[], []]
  for (let round = 1; ; round++) {
    quiet.push(await timed())
    attacked.push(await attacker.during(timed))
    const [quietMs, attackedMs] = [quiet, attacked].map((all) => at(all, 0.5)) as [number, number]
    const impact = { quietMs, attackedMs, statuses: attacker.statuses }
    if (round === MOST_ROUNDS || (round >= LEAST_ROUNDS && isUnharmed(impact))) return impact
  }
}

const at = (all: number[], share: number): number => all.toSorted((a, b) => a - b)[Math.floor(all.length * share)]!

/** At most twice the time of quiet windows. */
const isUnharmed = ({ quietMs, attackedMs }: Impact): boolean => attackedMs <= Math.max(2 * quietMs, FLOOR_MS)

export function expectUnharmed(impact: Impact): void {
  expect({ ...impact, isUnharmed: isUnharmed(impact) }).toMatchObject({ isUnharmed: true })
}
