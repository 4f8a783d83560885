import { describe, expect, test } from 'vitest'
import { testApp, type Answer } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { cancelMigration } from './service.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

const soon = () => AbortSignal.timeout(10_000)

describe('a VM whose host is full', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const other = await givenHost(app, 'other')
  const customer = await app.given.customer({ credit: '100000.00' })
  const [here, there] = [controlOf(app, app.host.id), controlOf(app, other.id)]
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const planId = (slug: string): string => plans.find((plan) => plan.slug === slug)!.id
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const hostOf = async (id: string) => (await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${id}`)).host_id
  const powerOn = async (hostId: string, id: string) => (await (await app.deps.hypervisors.get(hostId)).findMachine(id, soon()))?.power
  const used = (hostId: string) =>
    app.db.one<{ vcpu: number; ram: number; disk: number }>(
      sql`select vcpu_used as vcpu, ram_used_mib as ram, disk_used_gib as disk from hosts where id = ${hostId}`,
    )
  const balance = async () => (await customer.get('/wallet')).body.data.balance as string
  const quotas = () => app.db.many(sql`select name, used from account_quotas where account_id = ${customer.accountId} order by name`)
  const fill = (hostId: string) =>
    app.db.run(sql`update hosts set ram_total_mib = ram_used_mib, disk_total_gib = disk_used_gib where id = ${hostId}`)
  /** On a host that has no room for more. */
  const boot = async (input: Record<string, unknown> = { planId: planId('small') }) => {
    await app.db.run(sql`update hosts set ram_total_mib = 131072, disk_total_gib = 4000`)
    const { id } = await placeOn(app, app.host.id, () => app.given.vm(customer, input))
    await fill(app.host.id)
    return id
  }
  const ask = (id: string, to: object, verb = 'resize', query = '') => customer.post(`/vms/${id}/${verb}${query}`, to)
  const settled = async (id: string, answer: Answer) => {
    expect(answer.status, answer.body.error).toBe(202)
    await app.checkInvariants()
    await app.settle({ subjectId: id })
    await applyPorts.runOnce(app.deps)
    await reconcileStaleMachines.runOnce(app.deps)
    await app.checkInvariants()
    return (await customer.get(`/vms/${id}/actions/${answer.body.data.actionId}`)).body.data
  }

  test.each(['resize', 'upgrade'])('moves while it runs, and is restarted once in its new size, by %s', async (verb) => {
    const id = await boot()
    await here.drift.writeFile(id, 'proof', 'kept')
    const before = [await used(app.host.id), await used(other.id)]
    expect((await ask(id, { planId: planId('medium') }, verb, '?dryRun=true')).body.data).toMatchObject({ restarts: true })
    expect([await used(app.host.id), await used(other.id)]).toEqual(before)
    const answer = await ask(id, { planId: planId('medium') }, verb)
    // The new size is booked there at once, and the old one is kept here.
    expect(await used(app.host.id)).toEqual(before[0])
    const { vcpu, ram, disk } = before[1]!
    expect(await used(other.id)).toEqual({ vcpu: vcpu + 2, ram: ram + 2048, disk: disk + 50 })
    expect(await settled(id, answer)).toMatchObject({ status: 'COMPLETED', action: verb.toUpperCase() })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([other.id, undefined, 'running'])
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 2, ram: 2048, disk: 50, plan: { slug: 'medium' } })
    expect(await there.drift.readFile(id, 'proof')).toBe('kept')
    expect(await used(app.host.id)).toEqual({ vcpu: before[0]!.vcpu - 1, ram: before[0]!.ram - 1024, disk: before[0]!.disk - 25 })
    expect(await app.db.many(sql`select host from simulated.ports where vm_id = ${id}`)).toEqual([{ host: 'other' }])
  })

  test('grows its disk there without a restart', async () => {
    const id = await boot()
    const answer = await ask(id, { disk: 80 }, 'resize', '?dryRun=true')
    expect(answer.body.data).toMatchObject({ restarts: false })
    const started = () =>
      app.db.one<{
        booted_at: Date
        gib: number
      }>(sql`select booted_at, (select (capacity_bytes >> 30)::int from simulated.volumes v where v.vm_id = m.vm_id and kind = 'disk') as gib
        from simulated.machines m where vm_id = ${id}`)
    const before = await started()
    expect(await settled(id, await ask(id, { disk: 80 }))).toMatchObject({ status: 'COMPLETED' })
    expect(await started()).toEqual({ ...before, gib: 80 })
    expect([await hostOf(id), await vm(id)]).toMatchObject([other.id, { status: 'RUNNING', disk: 80 }])
  })

  test('moves off where it is stopped', async () => {
    const id = await boot()
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    expect(await settled(id, await ask(id, { planId: planId('medium') }))).toMatchObject({ status: 'COMPLETED' })
    expect([await hostOf(id), await powerOn(other.id, id), (await vm(id)).status]).toEqual([other.id, 'stopped', 'STOPPED'])
  })

  test('stays for a smaller size', async () => {
    const id = await boot({ planId: planId('medium') })
    expect(await settled(id, await ask(id, { planId: planId('small'), disk: 50 }))).toMatchObject({ status: 'COMPLETED' })
    expect(await hostOf(id)).toBe(app.host.id)
  })

  test.each([
    ['the move', 'ensureMigrated', 'here'],
    ['the start there', 'ensureRunning', 'there'],
  ] as const)('gets everything back when %s fails', async (_what, verb, side) => {
    const id = await boot()
    const before = [await balance(), await quotas()]
    const [sourceUsed, otherUsed] = [await used(app.host.id), await used(other.id)]
    await (side === 'here' ? here : there).faults.plant({ verb, kind: 'permanent', times: 1 })
    expect(await settled(id, await ask(id, { planId: planId('large') }))).toMatchObject({ status: 'FAILED' })
    await here.faults.clear()
    await there.faults.clear()
    expect([await balance(), await quotas()]).toEqual(before)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 1, ram: 1024, disk: 25, plan: { slug: 'small' } })
    const isThere = side === 'there'
    expect(await hostOf(id)).toBe(isThere ? other.id : app.host.id)
    expect(await powerOn(await hostOf(id), id)).toBe('running')
    const size = isThere ? { vcpu: 1, ram: 1024, disk: 25 } : { vcpu: 0, ram: 0, disk: 0 }
    expect(await used(other.id)).toEqual({
      vcpu: otherUsed.vcpu + size.vcpu,
      ram: otherUsed.ram + size.ram,
      disk: otherUsed.disk + size.disk,
    })
    expect((await used(app.host.id)).ram).toBe(sourceUsed.ram - size.ram)
  })

  test('is left as it was by an operator who cancels the move', async () => {
    const id = await boot()
    const before = [await balance(), await quotas(), await used(other.id)]
    const answer = await ask(id, { planId: planId('medium') })
    await app.db.tx((tx) => cancelMigration(tx, app.deps, id))
    expect(await settled(id, answer)).toMatchObject({ status: 'CANCELLED' })
    expect([await balance(), await quotas(), await used(other.id)]).toEqual(before)
    expect([await hostOf(id), (await vm(id)).plan.slug]).toEqual([app.host.id, 'small'])
  })

  test('says why it cannot move', async () => {
    const id = await boot()
    await app.db.run(sql`update hosts set ram_total_mib = 131072, disk_total_gib = 4000`)
    await customer.post(`/vms/${id}/snapshots`, { name: 'before' })
    await app.settle({ subjectId: id })
    await fill(app.host.id)
    const { status, body } = await ask(id, { planId: planId('medium') })
    expect([status, body.error]).toEqual([503, expect.stringContaining('it cannot move to another one: VM has a snapshot')])
    const full = await boot()
    await fill(other.id)
    const refused = await ask(full, { planId: planId('medium') })
    expect([refused.status, refused.headers['x-error-code'], refused.body.error]).toEqual([
      503,
      'no_capacity',
      'The host of this VM has no room for plan medium at the moment: too little RAM, too little disk, and no other one can take it. Try again later, or create a new VM',
    ])
    expect(refused.body.error).not.toContain('other host')
    await app.db.run(sql`update hosts set maintenance = true where id = ${other.id}`)
    expect((await ask(full, { planId: planId('medium') })).body.error).toContain(
      'too little RAM, too little disk, and no other one can take it (some are in maintenance or unreachable). Try again later',
    )
    await app.db.run(sql`update hosts set maintenance = false where id = ${other.id}`)
    await app.checkInvariants()
  })

  test('is told what is missing and which smaller plans there is room for, and nothing of hosts', async () => {
    const id = await boot()
    await fill(other.id)
    await app.db.run(
      sql`update hosts set ram_total_mib = ram_total_mib + 1024, disk_total_gib = disk_total_gib + 400 where id = ${app.host.id}`,
    )
    const refused = async (to: object) => {
      const { status, body } = await customer.post(`/vms/${id}/resize`, to, { accept: 'application/problem+json' })
      expect(status).toBe(503)
      return body as unknown as { code: string; detail: string }
    }
    const large = await refused({ planId: planId('large') })
    expect(large).toMatchObject({
      code: 'no_capacity',
      missing: ['ram', 'disk'],
      alternatives: { regions: [], plans: ['medium'], later: true },
    })
    expect(large.detail).toMatch(/: too little RAM, too little disk, and no other one can take it\. There is room now for plan medium$/)
    expect(large.detail).not.toMatch(new RegExp(`${app.host.name}\\b|\\bother host|${other.id}`))
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib, disk_total_gib = 20000`)
    expect(await refused({ customConfig: { vcpu: 1, ram: 262_144, disk: 25 } })).toMatchObject({
      missing: ['ram'],
      alternatives: { plans: [], later: false },
      detail: expect.stringContaining('waiting does not help'),
    })
    await app.checkInvariants()
  })

  test('is not told by a dry run how full its host is', async () => {
    const id = await boot()
    const quote = async () => {
      const { status, body } = await ask(id, { planId: planId('medium') }, 'resize', '?dryRun=true')
      expect(status).toBe(200)
      return body.data
    }
    const full = await quote()
    await app.db.run(sql`update hosts set ram_total_mib = 131072, disk_total_gib = 4000`)
    expect(await quote()).toEqual(full)
  })

  test('moves beside at most one other of its account, so that one account does not keep all places', async () => {
    const ids = [await boot(), await boot(), await boot()]
    await fill(app.host.id)
    const answers = []
    for (const id of ids) answers.push(await ask(id, { planId: planId('medium') }))
    expect(answers.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
      [202, undefined],
      [202, undefined],
      [409, 'busy'],
    ])
    await app.settle()
    await applyPorts.runOnce(app.deps)
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await settled(ids[2]!, await ask(ids[2]!, { planId: planId('medium') }))).toMatchObject({ status: 'COMPLETED' })
  })

  test('does not move to a host of a VM that it must be apart from', async () => {
    const group = (await customer.post('/placement-groups', { name: 'apart', policy: 'STRICT_SPREAD' })).body.data.id
    const id = await boot({ planId: planId('small'), placementGroupId: group })
    await placeOn(app, other.id, () => app.given.vm(customer, { placementGroupId: group }))
    await fill(app.host.id)
    expect((await ask(id, { planId: planId('medium') })).status).toBe(503)
  })

  test('is not oversold by two that resize at the same time', async () => {
    const ids = [await boot(), await boot()]
    await fill(app.host.id)
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + 2048 where id = ${other.id}`)
    const answers = await Promise.all(ids.map((id) => ask(id, { planId: planId('medium') })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 503])
    await app.settle()
    await applyPorts.runOnce(app.deps)
    await app.checkInvariants()
  })
})
