// Kills processes with SIGKILL during their work: nothing is lost or done twice, and everything has ended within 30 seconds of the next
// start.
import { describe, expect, test } from 'vitest'
import { sleep } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Verb } from '../src/hypervisor/simulated/host.ts'
import { clientOf, fleet, type Fleet } from './fleet.ts'
import { eventually, type Service } from './processes.ts'

const AGAIN_MS = 30_000

/** Each step of both workflows, and the host call in which the worker blocks. */
const CREATE: Record<string, Verb> = {
  networks: 'ensureNetwork',
  filter: 'ensurePort',
  disk: 'ensureDisk',
  boot: 'ensureRunning',
  ready: 'ensureReady',
}
const UPGRADE: Record<string, Verb> = {
  stop: 'ensureStopped',
  resize: 'ensureDefined',
  networks: 'ensureNetwork',
  filter: 'ensurePort',
  boot: 'ensureRunning',
  ready: 'ensureReady',
}

async function catalog({ db }: Fleet) {
  return db.one<{ regionId: string; osTemplateId: string; large: string }>(sql`
    select (select id from regions where slug = 'fra1') as "regionId", (select id from os_templates where slug = 'debian-12') as "osTemplateId",
      (select id from plans where slug = 'large') as large`)
}

describe('a killed process', { timeout: 300_000 }, () => {
  test('that ran actions: each action ends, whatever step of a create or upgrade it was in', async () => {
    const fixture = await fleet()
    const { db } = fixture
    const { osTemplateId, large } = await catalog(fixture)
    const [api, worker] = await Promise.all([fixture.start('api'), fixture.start('worker')])
    const { send } = clientOf((await fixture.account(1_000_000n)).token, () => api)

    /** In its own region, so that each blocks in its own step. */
    const vmIn = async (name: string) => {
      const { regionId, faults } = await fixture.region(name)
      const network = await send('POST', '/networks', { name, nodeId: regionId, cidr: '10.0.0.0/24' })
      const create = () => send('POST', '/vms', { regionId, osTemplateId, hostname: name, privateNetworkIds: [network.data.id] })
      return { faults, create }
    }
    const upgrades = await Promise.all(Object.entries(UPGRADE).map(async ([step, verb]) => ({ verb, ...(await vmIn(`upgrade-${step}`)) })))
    const grown = await Promise.all(upgrades.map(async ({ create }) => (await create()).data.vm.id))
    const creates = await Promise.all(Object.entries(CREATE).map(async ([step, verb]) => ({ verb, ...(await vmIn(`create-${step}`)) })))
    await fixture.ended(60_000)
    await eventually(async () => (await db.maybe(sql`select from networks where not is_applied`)) === undefined)

    const hang = ({ faults, verb }: (typeof upgrades)[number], times: number) =>
      (verb === 'ensureNetwork' || verb === 'ensurePort' ? faults.network : faults.host).plant({ verb, kind: 'hang', times })
    // An upgrade changes the limit, which the reconciler applies at once: its call hangs first.
    for (const each of upgrades) await hang(each, each.verb === 'ensurePort' ? 2 : 1)
    for (const each of creates) await hang(each, 1)
    for (const id of grown) expect((await send('POST', `/vms/${id}/upgrade`, { planId: large })).status).toBe(202)
    for (const { create } of creates) expect((await create()).status).toBe(202)
    const stuck = async () =>
      (
        await db.many<{ at: string }>(sql`
          select lower(r.label) || ' ' || s.name as at from workflow_runs r join workflow_steps s on s.run_id = r.id
          where s.status = 'RUNNING' and not exists (select from simulated.faults) order by 1`)
      ).map((row) => row.at)
    const wanted = [...Object.keys(CREATE).map((step) => `create ${step}`), ...Object.keys(UPGRADE).map((step) => `upgrade ${step}`)].sort()
    await expect.poll(stuck, { timeout: 60_000 }).toEqual(wanted)

    await worker.kill('SIGKILL')
    await fixture.start('worker')
    expect(await fixture.ended(AGAIN_MS)).toBeLessThan(AGAIN_MS)
    const outcome = await db.many(sql`select label, status, count(*)::int as count from workflow_runs group by 1, 2 order by 1, 2`)
    expect(outcome).toEqual([
      { label: 'CREATE', status: 'COMPLETED', count: 11 },
      { label: 'UPGRADE', status: 'COMPLETED', count: 6 },
    ])
    expect(await fixture.broken()).toBe('')
  })

  test('that received 200 requests with keys: exactly 200 VMs and 200 charges', async () => {
    const fixture = await fleet()
    const { db } = fixture
    const { regionId, osTemplateId } = await catalog(fixture)
    await fixture.start('worker')
    let api: Service = await fixture.start('api')
    const { send } = clientOf((await fixture.account(10_000_000n)).token, () => api)

    /** Retries with the same key until there is a response: a closed connection says nothing about the outcome. */
    const order = async (number: number): Promise<string> => {
      for (;;) {
        const body = { regionId, osTemplateId, hostname: `web-${number}` }
        const answer = await send('POST', '/vms', body, `order-${number}`).catch(() => null)
        if (answer?.status === 202) return answer.data.vm.id
        if (answer && answer.status < 500 && answer.status !== 409) throw new Error(`${answer.status}: ${answer.error}`)
        await sleep(50)
      }
    }
    let next = 0
    const ids: string[] = []
    const client = async (): Promise<void> => {
      for (let number = next++; number < 200; number = next++) ids[number] = await order(number)
    }
    const clients = Promise.all(Array.from({ length: 20 }, client))
    let kills = 0
    for (const share of [20, 60, 100, 140, 180]) {
      await eventually(async () => ids.filter(Boolean).length >= share, 120_000)
      await api.kill('SIGKILL')
      kills++
      api = await fixture.start('api')
    }
    await clients
    expect(kills).toBe(5)
    expect(new Set(ids).size).toBe(200)
    const counts = await db.one(sql`
      select (select count(*)::int from vms) as vms, (select count(*)::int from wallet_transactions where type = 'VM_CHARGE') as charges`)
    expect(counts).toEqual({ vms: 200, charges: 200 })
    expect(await fixture.ended(AGAIN_MS)).toBeLessThan(AGAIN_MS)
    expect(await fixture.broken()).toBe('')
  })

  test('that is a worker, repeatedly under load: every accepted action runs once', async () => {
    const fixture = await fleet()
    const { db } = fixture
    const { regionId, osTemplateId, large } = await catalog(fixture)
    const api = await fixture.start('api')
    const { send } = clientOf((await fixture.account(10_000_000n)).token, () => api)
    const ids: string[] = []

    /** Each worker gets new runs and lives a little longer than the previous one, so that they die early, in the middle and late. */
    const killWorkers = async (giveWork: (number: number) => Promise<unknown>): Promise<void> => {
      for (const [round, ms] of [50, 400, 900, 1_600, 2_500].entries()) {
        for (let each = 0; each < 8; each++) await giveWork(8 * round + each)
        const worker = await fixture.start('worker')
        await sleep(ms)
        await worker.kill('SIGKILL')
      }
      const last = await fixture.start('worker')
      await fixture.ended(AGAIN_MS)
      await last.kill('SIGKILL')
    }
    await killWorkers(async (number) => {
      ids.push((await send('POST', '/vms', { regionId, osTemplateId, hostname: `web-${number}` })).data.vm.id)
    })
    await killWorkers((number) => send('POST', `/vms/${ids[number]}/upgrade`, { planId: large }))
    await fixture.start('worker')
    const outcome = await db.many(sql`select label, status, count(*)::int as count from workflow_runs group by 1, 2 order by 1, 2`)
    expect(outcome).toEqual([
      { label: 'CREATE', status: 'COMPLETED', count: 40 },
      { label: 'UPGRADE', status: 'COMPLETED', count: 40 },
    ])
    expect(await fixture.broken()).toBe('')
  })
})
