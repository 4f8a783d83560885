import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase, testDatabase } from './harness.ts'
import { berthd, berthdJson, eventually, get, service, type Service, type Settings } from './processes.ts'

let dataDir: string
beforeAll(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'berth-clock-'))))
afterAll(() => rm(dataDir, { recursive: true }))

describe('the test clock', { timeout: 240_000 }, () => {
  test('is rejected by real data, and required by a database that has one', async () => {
    const real = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: dataDir }
    const asked = await berthd({ ...real, BERTH_TEST_CLOCK: 'true' }, 'migrate')
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('works only with a database created with it')])
    const moved = await berthd(real, 'clock', 'advance', '--to', '2999-01-01')
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('has no test clock')])
    const trial = { BERTH_DATABASE_URL: await emptyDatabase(), BERTH_DATA_DIR: dataDir }
    expect(await berthd({ ...trial, BERTH_TEST_CLOCK: 'true' }, 'migrate')).toMatchObject({ code: 0 })
    const without = await berthd(trial, 'account', 'list')
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('has a test clock')])
  })

  test('advances months on a running product: renewals, invoices, and deletion of unpaid VMs', async () => {
    const settings: Settings = {
      BERTH_DATABASE_URL: await emptyDatabase(),
      BERTH_DATA_DIR: dataDir,
      BERTH_PORT: '0',
      BERTH_METRICS_PORT: '0',
      BERTH_TEST_CLOCK: 'true',
    }
    const up = await service(settings, 'up')
    onTestFinished(async () => void (await up.kill('SIGKILL')))
    const { token, vm } = await givenVm(settings, up)
    const first = new Date(vm.billing.nextRenewalAt)
    const inDays = (days: number) => new Date(first.getTime() + days * 86_400_000).toISOString()

    const back = await berthd(settings, 'clock', 'advance', '--to', '2001-01-01')
    expect([back.code, back.stderr]).toEqual([2, expect.stringContaining('test clock cannot be moved back')])
    await berthdJson(settings, 'clock', 'advance', '--to', inDays(32))
    const { now } = await berthdJson(settings, 'clock', 'show')
    expect(now! >= inDays(32)).toBe(true)
    const read = async (path: string) => ((await (await get(`${up.url}${path}`, token)).json()) as { data: unknown }).data
    const renewals = (await read('/wallet/transactions?type=VM_RENEWAL')) as { amount: string; createdAt: string }[]
    expect(renewals.map((each) => each.amount)).toEqual(Array(4).fill('-6.00'))
    const charged = renewals.map((each) => Date.parse(each.createdAt) - first.getTime()).at(-1)
    expect(charged).toBeLessThan(60_000) // on its due date, not at the end
    expect(await read('/invoices')).not.toEqual([])

    await berthdJson(settings, 'clock', 'advance', '--to', inDays(75))
    expect((await get(`${up.url}/vms/${vm.id}`, token)).status).toBe(404)
    const events = (await read('/events?limit=100')) as { type: string }[]
    const told = events.map(({ type }) => type).filter((type) => /past_due|suspended|terminated|low_balance/.test(type))
    expect(new Set(told)).toEqual(new Set(['billing.low_balance', 'vm.past_due', 'vm.suspended', 'vm.terminated']))
    expect(told.filter((type) => type === 'billing.low_balance').length).toBeGreaterThan(5)
  })
})

/** Two VMs created at the same time, running, with funds for three months in total. */
async function givenVm(settings: Settings, { url }: Service) {
  await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '36.00')
  const { token = '' } = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 'trial', '--scopes', '*')
  const ask = async (path: string) => ((await (await get(`${url}${path}`, token)).json()) as { data: unknown }).data
  const [region] = (await ask('/regions')) as { id: string }[]
  const template = ((await ask('/os-templates')) as { id: string; slug: string }[]).find(({ slug }) => slug === 'debian-12')
  const create = async (): Promise<string> => {
    const answer = await fetch(`${url}/vms`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify({ regionId: region!.id, osTemplateId: template!.id, hostname: 'trial' }),
    })
    expect(answer.status).toBe(202)
    return ((await answer.json()) as { data: { vm: { id: string } } }).data.vm.id
  }
  const [id] = await Promise.all([create(), create()])
  const vm = await eventually(async () => {
    const found = (await ask(`/vms/${id}`)) as { id: string; status: string; billing: { nextRenewalAt: string } }
    return found.status === 'RUNNING' ? found : null
  }, 60_000)
  return { token, vm }
}
