import { describe, expect, test } from 'vitest'
import { testApp, type Answer } from '../../../test/harness.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'

const soon = () => AbortSignal.timeout(10_000)

describe('a resize', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '100000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const planId = (slug: string): string => plans.find((plan) => plan.slug === slug)!.id
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const balance = async (): Promise<number> => Math.round(Number((await customer.get('/wallet')).body.data.balance) * 100)
  const used = () => app.db.one(sql`select vcpu_used as vcpu, ram_used_mib as ram, disk_used_gib as disk from hosts`)
  const quotas = () => app.db.many(sql`select name, used from account_quotas where account_id = ${customer.accountId} order by name`)
  const machine = (id: string) =>
    app.db.one<{ vcpu: number; ram: number; epoch: bigint; gib: number; power: string }>(sql`
      select m.vcpu, m.ram_mib as ram, m.epoch, (v.capacity_bytes >> 30)::int as gib, m.power from simulated.machines m
        join simulated.volumes v on v.vm_id = m.vm_id and v.kind = 'disk' where m.vm_id = ${id}`)
  const seen = ({ status, headers, body }: Answer) => [status, headers['x-error-code'], body.error]
  const ask = (id: string, to: object) => customer.post(`/vms/${id}/resize`, to)
  const quote = async (id: string, to: object) => {
    const { status, body } = await customer.post(`/vms/${id}/resize?dryRun=true`, to)
    expect(status, body.error).toBe(200)
    return body.data
  }
  const resize = async (id: string, to: object) => {
    const { status, body } = await ask(id, to)
    expect(status, body.error).toBe(202)
    await app.settle({ subjectId: id })
    await applyPorts.runOnce(app.deps)
    return (await customer.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data
  }
  const events = async (id: string) =>
    (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} order by number`)).map(({ type }) => type)

  test('down restarts the guest once, releases what it no longer has, and refunds the unused days of the difference', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('medium') })
    const [hostBefore, quotasBefore] = [await used(), await quotas()]
    const cents = await balance()
    const to = { customConfig: { vcpu: 1, ram: 1024, disk: 50 } }
    const quoted = await quote(id, to)
    expect(quoted).toMatchObject({ restarts: true, charge: expect.stringMatching(/^-/) })
    const { epoch } = await machine(id)
    const { body } = await ask(id, to)
    expect(await vm(id)).toMatchObject({ status: 'UPGRADING', vcpu: 2, ram: 2048, currentAction: { action: 'RESIZE' } })
    expect([await used(), await quotas()]).toEqual([hostBefore, quotasBefore])
    await app.checkInvariants()
    await app.settle({ subjectId: id })
    await applyPorts.runOnce(app.deps)
    expect((await customer.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data).toMatchObject({
      status: 'COMPLETED',
      action: 'RESIZE',
    })
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 1, ram: 1024, disk: 50, plan: { slug: 'custom' } })
    expect(await machine(id)).toMatchObject({ vcpu: 1, ram: 1024, gib: 50, power: 'running' })
    expect((await machine(id)).epoch).not.toBe(epoch)
    expect((await balance()) - cents).toBe(Math.round(-Number(quoted.charge) * 100))
    expect((await balance()) / 100).toBe(Number(quoted.balanceAfter))
    expect((await vm(id)).billing.priceMonthly).toBe(quoted.monthly)
    expect(await events(id)).toEqual(expect.arrayContaining(['vm.resizing', 'vm.resized']))
    await app.checkInvariants()
  })

  test('of the disk alone is live, and makes a custom configuration of the plan', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    await app.simulated.drift.writeFile(id, 'proof', 'kept')
    const { epoch } = await machine(id)
    const quoted = await quote(id, { disk: 60 })
    expect(quoted).toMatchObject({ restarts: false })
    expect(await resize(id, { disk: 60 })).toMatchObject({ status: 'COMPLETED' })
    expect(await machine(id)).toMatchObject({ vcpu: 1, ram: 1024, gib: 60, power: 'running', epoch })
    expect(await app.simulated.drift.readFile(id, 'proof')).toBe('kept')
    const { status, vcpu, ram, disk, bandwidth, plan, billing } = await vm(id)
    expect({ status, vcpu, ram, disk, bandwidth, slug: plan.slug }).toEqual({
      status: 'RUNNING',
      vcpu: 1,
      ram: 1024,
      disk: 60,
      bandwidth: 2000,
      slug: 'custom',
    })
    expect(billing.priceMonthly).toBe(quoted.monthly)
    expect(await resize(id, { planId: planId('large') })).toMatchObject({ status: 'COMPLETED' })
    expect(await vm(id)).toMatchObject({ disk: 100, plan: { slug: 'large' }, billing: { priceMonthly: '36.00' } })
    await app.checkInvariants()
  })

  test.each([
    ['of the disk alone', true, { disk: 60 }, ['networks', 'firewall', 'grow']],
    ['with a restart', true, { planId: planId('large') }, ['stop', 'resize', 'networks', 'firewall', 'boot', 'grow', 'ready']],
    ['of a stopped VM', false, { customConfig: { vcpu: 1, ram: 512, disk: 25 } }, ['resize', 'networks', 'firewall']],
  ])('%s has the steps that happen', async (_what, isOn, to, steps) => {
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    if (!isOn) await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    const action = await resize(id, to)
    expect(action.steps.map(({ name, status }: Record<'name' | 'status', string>) => `${name} ${status}`)).toEqual(
      steps.map((name) => `${name} COMPLETED`),
    )
    expect(action.progress).toBe(100)
  })

  test('that fails has grown no disk, and one whose disk has grown is not taken back', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    const before = [await used(), await quotas(), await balance()]
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent', times: 1 })
    expect(await resize(id, { planId: planId('large') })).toMatchObject({ status: 'FAILED' })
    await app.simulated.faults.clear()
    expect(await machine(id)).toMatchObject({ vcpu: 1, ram: 1024, gib: 25, power: 'running' })
    expect([await used(), await quotas(), await balance()]).toEqual(before)
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'permanent', times: 1 })
    expect(await resize(id, { planId: planId('large') })).toMatchObject({ status: 'COMPLETED' })
    await app.simulated.faults.clear()
    expect(await machine(id)).toMatchObject({ vcpu: 4, ram: 8192, gib: 100, power: 'running' })
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 4, disk: 100, plan: { slug: 'large' } })
    await app.checkInvariants()
  })

  test('never shrinks a disk, and says what to do instead', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('medium') })
    expect(seen(await ask(id, { planId: planId('small') }))).toEqual([
      422,
      'incompatible',
      'The disk of this VM has 50 GiB and never shrinks to the 25 GiB of plan small: give the plan with disk 50, which costs more than the plan',
    ])
    expect(seen(await ask(id, { disk: 40 }))[2]).toContain('never shrinks to 40 GiB: give 50 GiB or more')
    expect((await ask(id, { planId: planId('large'), disk: 60 })).body.error).toContain('disk is less than the 100 GiB of plan large')
    expect(seen(await ask(id, { customConfig: { vcpu: 1, ram: 1024, disk: 30 } }))).toEqual([
      422,
      'incompatible',
      'The disk of this VM has 50 GiB and never shrinks to 30 GiB: give 50 GiB or more',
    ])
    expect(await resize(id, { planId: planId('small'), disk: 50 })).toMatchObject({ status: 'COMPLETED' })
    expect(await vm(id)).toMatchObject({ vcpu: 1, ram: 1024, disk: 50, bandwidth: 2000, plan: { slug: 'custom' } })
    expect(await machine(id)).toMatchObject({ vcpu: 1, ram: 1024, gib: 50 })
  })

  test.each([
    [{}, 400, 'give planId, customConfig or disk'],
    [{ customConfig: { vcpu: 1, ram: 1024, disk: 30 }, disk: 40 }, 400, 'not beside it'],
    [{ disk: 25 }, 422, 'This VM has that size already'],
    [{ disk: 5000 }, 400, 'must be 5-4096 GiB'],
    [{ planId: 'cccccccccccccccccccccccccc' }, 404, 'not found'],
  ])('refuses %j', async (body, status, error) => {
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    const answer = await ask(id, body)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(error)])
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', disk: 25, currentAction: null })
  })

  test('of less vCPU and more RAM keeps both until it has succeeded', async () => {
    const { id } = await app.given.vm(customer, { customConfig: { vcpu: 4, ram: 2048, disk: 20 } })
    const before = [await used(), await quotas(), await balance()]
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent', times: 1 })
    expect(await resize(id, { customConfig: { vcpu: 1, ram: 4096, disk: 20 } })).toMatchObject({ status: 'FAILED' })
    await app.simulated.faults.clear()
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      vcpu: 4,
      ram: 2048,
      statusReason: expect.stringContaining('The resize failed'),
    })
    expect([await used(), await quotas(), await balance()]).toEqual(before)
    expect(await machine(id)).toMatchObject({ vcpu: 4, ram: 2048, power: 'running' })
    expect(await events(id)).toContain('vm.resize_failed')
    expect(await resize(id, { customConfig: { vcpu: 1, ram: 4096, disk: 20 } })).toMatchObject({ status: 'COMPLETED' })
    expect(await machine(id)).toMatchObject({ vcpu: 1, ram: 4096 })
    await app.checkInvariants()
  })

  test('of a stopped VM leaves it stopped', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('medium') })
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    expect(await quote(id, { planId: planId('small'), disk: 50 })).toMatchObject({ restarts: false })
    await resize(id, { planId: planId('small'), disk: 50 })
    expect([(await vm(id)).status, await machine(id)]).toMatchObject(['STOPPED', { vcpu: 1, ram: 1024, power: 'stopped' }])
  })

  test('down and up again in one period is not charged twice, and a delete gives back no more than without', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('medium') })
    const cents = await balance()
    app.clock.advance('36h')
    for (let round = 0; round < 3; round++) {
      await resize(id, { planId: planId('small'), disk: 50 })
      await resize(id, { planId: planId('medium') })
    }
    const lost = cents - (await balance())
    expect(lost).toBeGreaterThanOrEqual(0)
    // A started day each time, and rounding.
    expect(lost).toBeLessThanOrEqual(3 * 40)
    const { id: other } = await app.given.vm(customer, { planId: planId('medium') })
    const before = await balance()
    await customer.delete(`/vms/${other}`)
    await app.settle({ subjectId: other })
    expect((await balance()) - before).toBeLessThanOrEqual(1200)
    await app.checkInvariants()
  })

  test('gives nothing back where the operator gives nothing back, and keeps it as paid', async () => {
    await app.db.run(sql`update catalog_values set value = 0 where name = 'setting.refund_unused_days'`)
    const { id } = await app.given.vm(customer, { planId: planId('large') })
    expect(await quote(id, { customConfig: { vcpu: 1, ram: 1024, disk: 100 } })).toMatchObject({ charge: '0.00' })
    await resize(id, { customConfig: { vcpu: 1, ram: 1024, disk: 100 } })
    expect(await quote(id, { planId: planId('large') })).toMatchObject({ charge: '0.00', monthly: '36.00' })
    await app.db.run(sql`update catalog_values set value = 1 where name = 'setting.refund_unused_days'`)
  })

  test('has the traffic of each size for its part of the period', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('large') })
    const cap = async () =>
      Number((await customer.get('/bandwidth')).body.data.find(({ vmId }: { vmId: string }) => vmId === id).capBytes) / 1e9
    await resize(id, { planId: planId('small'), disk: 100 })
    expect(await cap()).toBe(2000)
    await resize(id, { planId: planId('large') })
    expect(await cap()).toBe(5000)
  })

  test('is repeated by its Idempotency-Key, and refused while another action runs', async () => {
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    const headers = { 'idempotency-key': `resize-${id}` }
    const [first, second] = [
      await customer.post(`/vms/${id}/resize`, { disk: 40 }, headers),
      await customer.post(`/vms/${id}/resize`, { disk: 40 }, headers),
    ]
    expect([first.status, second.body.data]).toEqual([202, first.body.data])
    expect(seen(await ask(id, { disk: 50 })).slice(0, 2)).toEqual([409, 'busy'])
    await app.settle({ subjectId: id })
    expect((await vm(id)).disk).toBe(40)
    expect((await vm(id)).allowedActions).toContain('resize')
    const driver = await app.deps.hypervisors.get(app.host.id)
    expect(await driver.findMachine(id, soon())).toMatchObject({ power: 'running' })
  })
})
