import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { env, missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { newToken } from '../src/kernel/crypto.ts'
import { testDatabase } from './harness.ts'
import { berthdJson, eventually, get, service, type Service, type Settings } from './processes.ts'

let settings: Settings
let customers = 0

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-limits-'))
  settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: dataDir, BERTH_PORT: '0', BERTH_METRICS_PORT: '0' }
})
afterAll(() => rm(settings['BERTH_DATA_DIR']!, { recursive: true }))

async function freshToken(): Promise<string> {
  const email = `customer${++customers}@example.com`
  await berthdJson(settings, 'account', 'create', '--email', email)
  return (await berthdJson(settings, 'token', 'create', '--account', email, '--name', 'test', '--scopes', '*'))['token']!
}

/** Sends that many requests to the processes in turn, 32 at a time, and counts the statuses. */
async function flood(apis: Service[], count: number, headersOf: (n: number) => Record<string, string>): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  let next = 0
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const { status } = await fetch(`${apis[n % apis.length]!.url}/regions`, { headers: headersOf(n) })
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  return statuses
}

const twoApis = (more: Settings = {}): Promise<Service[]> =>
  Promise.all([service({ ...settings, ...more }, 'api'), service({ ...settings, ...more }, 'api')])
const stop = (apis: Service[]) => Promise.all(apis.map((api) => api.kill('SIGTERM')))

async function fallbacks({ output }: Service): Promise<number> {
  const address = /"metrics":"([^"]+)"/.exec(output())![1]!
  const text = await (await fetch(address)).text()
  return Number(/^berth_rate_limit_fallback_total (\d+)$/m.exec(text)![1])
}

describe('two API processes that share PostgreSQL', () => {
  let apis: Service[]
  beforeAll(async () => void (apis = await twoApis()))
  afterAll(() => stop(apis))

  test('admit 600 of 2,000 requests on one token', async () => {
    const token = await freshToken()
    expect(await flood(apis, 2_000, () => ({ 'x-api-key': token }))).toEqual({ 200: 600, 429: 1_400 })
  })

  test('limit 300 invalid tokens from one address to 100, whatever X-Forwarded-For claims', async () => {
    const answers = await flood(apis, 300, (n) => ({ 'x-api-key': newToken('vmk_'), 'x-forwarded-for': `198.18.0.${n % 250}` }))
    expect(answers).toEqual({ 401: 100, 429: 200 })
  })
})

test('use the address from a trusted proxy', async () => {
  const apis = [await service({ ...settings, BERTH_TRUSTED_PROXIES: '127.0.0.1' }, 'api')]
  const bad = (address: string) => flood(apis, 150, () => ({ 'x-api-key': newToken('vmk_'), 'x-forwarded-for': address }))
  expect(await bad('198.18.1.1')).toEqual({ 401: 100, 429: 50 })
  expect(await bad('198.18.1.2')).toEqual({ 401: 100, 429: 50 })
  // The proxy appends the address it saw: what the client sent before it is ignored.
  expect(await bad('198.18.9.9, 198.18.1.2')).toEqual({ 429: 150 })
  await stop(apis)
})

describeIf(missingCommands('redis-server'))('two API processes that share Redis', () => {
  let redis: ChildProcess
  let apis: Service[]

  beforeAll(async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    free.close()
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()], {
      env,
      stdio: 'ignore',
    })
    apis = await twoApis({ BERTH_REDIS_URL: `redis://127.0.0.1:${port}` })
    // Redis may start after them.
    await eventually(async () => {
      const before = await fallbacks(apis[0]!)
      await get(`${apis[0]!.url}/regions`, newToken('vmk_'))
      return (await fallbacks(apis[0]!)) === before
    })
  })
  afterAll(async () => {
    await stop(apis)
    redis.kill('SIGKILL')
  })

  test('admit 600 of 2,000 requests on one token', async () => {
    const token = await freshToken()
    expect(await flood(apis, 2_000, () => ({ 'x-api-key': token }))).toEqual({ 200: 600, 429: 1_400 })
  })

  test('keep serving when Redis dies, limit per process, and count the fallback', async () => {
    const token = await freshToken()
    const headers = () => ({ 'x-api-key': token })
    expect(await flood(apis, 500, headers)).toEqual({ 200: 500 })
    const before = await fallbacks(apis[0]!)
    const flooding = flood(apis, 2_000, headers)
    redis.kill('SIGKILL')
    const { 200: admitted = 0, 429: refused = 0, ...others } = await flooding
    expect(others).toEqual({})
    expect(admitted + refused).toBe(2_000)
    expect(admitted).toBeGreaterThanOrEqual(1_200) // 600 more in each process
    expect(admitted).toBeLessThanOrEqual(1_300) // plus what Redis had admitted
    expect(await fallbacks(apis[0]!)).toBeGreaterThan(before)
  })
})
