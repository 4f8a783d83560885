import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

describe('VM lifecycle', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '10000.00' })
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const plan = (slug: string) => plans.find((each) => each.slug === slug)!.id
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const act = async (id: string, verb: string, body?: unknown) => {
    const answer = await customer.post(`/vms/${id}/${verb}`, body)
    await app.settle()
    return answer
  }
  const events = async (id: string) =>
    (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} order by number`)).map((event) => event.type)

  test('stop, start and restart change the status and record events', async () => {
    const { id } = await app.given.vm(customer)
    expect((await act(id, 'stop')).status).toBe(202)
    expect(await vm(id)).toMatchObject({ status: 'STOPPED', statusReason: 'Stopped by its owner' })
    expect((await act(id, 'start')).status).toBe(202)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', statusReason: null })
    expect((await act(id, 'restart', { force: true })).status).toBe(202)
    expect(await events(id)).toEqual(['vm.provisioning', 'vm.created', 'vm.started', 'vm.stopped', 'vm.started', 'vm.restarted'])
  })

  test('rejects actions that the state does not allow', async () => {
    const { id } = await app.given.vm(customer)
    expect((await customer.post(`/vms/${id}/start`)).body.error).toBe('VM must be STOPPED or ERROR to start; it is RUNNING')
    await act(id, 'stop')
    const { status, headers, body } = await customer.post(`/vms/${id}/restart`)
    expect({ status, code: headers['x-error-code'], error: body.error }).toEqual({
      status: 409,
      code: 'invalid_state',
      error: 'VM must be RUNNING to restart; it is STOPPED',
    })
  })

  test('allows one action at a time', async () => {
    const { id } = await app.given.vm(customer)
    const { data } = (await customer.post(`/vms/${id}/restart`)).body
    const { status, body } = await customer.post(`/vms/${id}/stop`)
    expect(status).toBe(409)
    expect(body.error).toBe(`VM is busy: action RESTART (${data.actionId}) is waiting`)
    await app.settle()
  })

  test('upgrade charges the prorated difference and resizes the guest', async () => {
    const { id } = await app.given.vm(customer, { planId: plan('small') })
    const quote = (await customer.post(`/vms/${id}/upgrade?dryRun=true`, { planId: plan('medium') })).body.data
    expect(quote).toMatchObject({ charge: '6.00', monthly: '12.00' })
    const { body } = await customer.post(`/vms/${id}/upgrade`, { planId: plan('medium') })
    expect(await vm(id)).toMatchObject({ status: 'UPGRADING', currentAction: { action: 'UPGRADE' } })
    await app.settle()
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      vcpu: 2,
      ram: 2048,
      disk: 50,
      plan: { slug: 'medium' },
      billing: { priceMonthly: '12.00' },
    })
    const { data } = (await customer.get('/wallet/transactions?type=VM_UPGRADE')).body
    expect(data[0]).toMatchObject({ amount: '-6.00', referenceId: id, referenceType: 'VM' })
    expect((await customer.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data.status).toBe('COMPLETED')
  })

  test('upgrade costs less later in the period', async () => {
    const { id } = await app.given.vm(customer, { planId: plan('small') })
    const { nextRenewalAt } = (await vm(id)).billing
    const half = new Date((new Date(nextRenewalAt).getTime() + app.clock.now().getTime()) / 2)
    const before = app.clock.now()
    app.clock.set(half)
    const quote = (await customer.post(`/vms/${id}/upgrade?dryRun=true`, { planId: plan('medium') })).body.data
    app.clock.set(before)
    expect(['3.00', '3.01']).toContain(quote.charge)
  })

  test('upgrade rejects a plan that is not larger', async () => {
    const { id } = await app.given.vm(customer, { planId: plan('medium') })
    const { status, body } = await customer.post(`/vms/${id}/upgrade`, { planId: plan('small') })
    expect(status).toBe(422)
    expect(body.error).toBe('Plan small is not larger than the current plan medium. Use resize to make the VM smaller')
  })

  test('a failed upgrade restores plan, size, power state and money', async () => {
    const { id } = await app.given.vm(customer, { planId: plan('small') })
    const { balance } = (await customer.get('/wallet')).body.data
    const used = await app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts`)
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await act(id, 'upgrade', { planId: plan('large') })
    await app.simulated.faults.clear()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 1, ram: 1024, disk: 25, plan: { slug: 'small' } })
    expect((await vm(id)).statusReason).toContain('The upgrade failed and was taken back')
    expect((await customer.get('/wallet')).body.data.balance).toBe(balance)
    expect(await app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts`)).toEqual(used)
  })

  test('rebuild creates a new disk under the same address', async () => {
    const { id } = await app.given.vm(customer)
    await app.simulated.drift.writeFile(id, 'notes', 'keep me')
    const { ipAddress } = await vm(id)
    const template = (await customer.get('/os-templates/tiny')).body.data
    expect((await act(id, 'rebuild', { osTemplateId: template.id, password: 'a-new-password' })).status).toBe(202)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', ipAddress, osTemplate: { slug: 'tiny' } })
    expect(await app.simulated.drift.readFile(id, 'notes')).toBeNull()
  })

  test('protection rejects delete and rebuild until it is disabled', async () => {
    const { id } = await app.given.vm(customer, { isProtected: true })
    const { status, headers } = await customer.delete(`/vms/${id}`)
    expect({ status, code: headers['x-error-code'] }).toEqual({ status: 409, code: 'protected' })
    expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId: (await app.given.vmInput()).osTemplateId })).status).toBe(409)
    expect((await customer.patch(`/vms/${id}`, { isProtected: false, name: 'renamed' })).body.data).toMatchObject({
      isProtected: false,
      name: 'renamed',
    })
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle()
  })

  test('delete purges the host, releases quotas, refunds unused days and keeps the actions', async () => {
    const fresh = await app.given.customer({ credit: '100.00' })
    const { id, actionId } = await app.given.vm(fresh)
    const { status, body } = await fresh.delete(`/vms/${id}`)
    expect(status).toBe(202)
    await app.settle()
    expect((await fresh.get(`/vms/${id}`)).status).toBe(404)
    expect((await fresh.get('/vms')).body.pagination.total).toBe(0)
    expect((await fresh.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data).toMatchObject({ action: 'DELETE', status: 'COMPLETED' })
    expect((await fresh.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({ action: 'CREATE', status: 'COMPLETED' })
    expect((await fresh.get('/wallet')).body.data.balance).toBe('100.00')
    expect(await events(id)).toContain('vm.terminated')
  })

  test('the address of a deleted VM has a cooldown before it is allocated again', async () => {
    const { id } = await app.given.vm(customer)
    const { ipAddress } = await vm(id)
    await customer.delete(`/vms/${id}`)
    await app.settle()
    const free = () =>
      app.db.maybe(sql`select 1 from free_addresses where address = ${ipAddress}::inet and available_at <= ${app.clock.now()}`)
    expect(await free()).toBeUndefined()
    app.clock.advance('10m')
    expect(await free()).toBeDefined()
  })

  test('a password reset reaches the guest', async () => {
    const { id } = await app.given.vm(customer)
    const before = (await app.simulated.drift.login(id)).passwordHash
    expect((await act(id, 'password', { password: 'correct horse battery' })).status).toBe(202)
    const { passwordHash } = await app.simulated.drift.login(id)
    expect(passwordHash).toMatch(/^\$6\$/)
    expect(passwordHash).not.toBe(before)
  })

  test('an action can be awaited', async () => {
    const { id } = await app.given.vm(customer)
    const { data } = (await customer.post(`/vms/${id}/restart`)).body
    const waiting = customer.get(`/vms/${id}/actions/${data.actionId}?wait=30`)
    await app.settle()
    expect((await waiting).body.data).toMatchObject({ action: 'RESTART', status: 'COMPLETED' })
  })

  test('sells no daily backups while a create or upgrade decides the price, and compensation restores the balance', async () => {
    const fresh = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(fresh, {}, { settled: false })
    const change = () => fresh.patch(`/vms/${id}`, { dailyBackupEnabled: true })
    expect((await change()).headers['x-error-code']).toBe('busy')
    expect((await fresh.patch(`/vms/${id}`, { name: 'renamed' })).status).toBe(200)
    await app.settle()
    await fresh.post(`/vms/${id}/upgrade`, { planId: plan('large') })
    expect((await change()).headers['x-error-code']).toBe('busy')
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await app.settle()
    expect((await fresh.get('/wallet')).body.data.balance).toBe('94.00')
    expect((await change()).status).toBe(200)
  })

  test('a failed delete leaves the VM managed as before', async () => {
    const { id } = await app.given.vm(customer)
    const firewall = (await customer.post('/firewalls', { name: 'web' })).body.data
    await app.simulated.faults.plant({ verb: 'ensurePurged', kind: 'permanent' })
    await customer.delete(`/vms/${id}`)
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', statusReason: expect.stringContaining('could not be deleted') })
    await customer.post(`/firewalls/${firewall.id}/bindings`, { vmId: id })
    await app.reconcile()
    expect((await customer.get(`/firewalls/${firewall.id}`)).body.data).toMatchObject({ bindingCount: 1, applied: true })
    await app.checkInvariants()
  })

  test('lists by status and paginates', async () => {
    const fresh = await app.given.customer({ credit: '100.00' })
    for (let i = 0; i < 3; i++) await app.given.vm(fresh)
    const { id } = await app.given.vm(fresh)
    await fresh.post(`/vms/${id}/stop`)
    await app.settle()
    const stopped = (await fresh.get('/vms?status=STOPPED')).body
    expect(stopped.data.map((each: { id: string }) => each.id)).toEqual([id])
    expect(stopped.pagination.total).toBe(1)
    const page = (await fresh.get('/vms?page=2&limit=3')).body
    expect(page.data).toHaveLength(1)
    expect(page.pagination).toEqual({ page: 2, limit: 3, total: 4, totalPages: 2 })
    expect((await fresh.get('/vms?page=99999999999')).body.data).toEqual([])
    expect((await fresh.get('/vms?status=ASLEEP')).status).toBe(400)
    expect((await fresh.get('/actions?status=COMPLETED')).body.pagination.total).toBe(5)
    expect((await fresh.get(`/vms/${id}/actions`)).body.data.map((each: { action: string }) => each.action)).toEqual(['STOP', 'CREATE'])
  })
})
