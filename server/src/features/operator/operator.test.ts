import { beforeAll, describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { enforceSuspension } from '../vms/reconcilers/enforce-suspension.reconciler.ts'
import { suspend } from '../vms/actions/power.ts'
import { createInvariantMonitor } from '../../invariants/monitor.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { createMetrics } from '../../kernel/metrics.ts'

const app = await testApp()
let operator: Awaited<ReturnType<typeof givenBrowser>>
beforeAll(async () => void (operator = await givenBrowser(app, { isOperator: true })))
const rich = () => app.given.customer({ credit: '100.00' })

describe('hosts', () => {
  test('are listed with their usage, and get no new VM in maintenance', async () => {
    const customer = await rich()
    await app.given.vm(customer)
    const { body } = await operator.get('/operator/hosts')
    expect(body.data).toMatchObject([{ id: app.host.id, name: 'local', region: 'fra1', driver: 'simulated', maintenance: false }])
    expect(body.data[0].vmCount).toBeGreaterThan(0)
    const changed = await operator.patch(`/operator/hosts/${app.host.id}`, { maintenance: true })
    expect(changed.body.data).toMatchObject({ maintenance: true, state: expect.stringMatching(/maintenance/) })
    const refused = await customer.post('/vms', await app.given.vmInput())
    expect(refused.body.error).toContain('in maintenance')
    await operator.patch(`/operator/hosts/${app.host.id}`, { maintenance: false })
    await app.given.vm(customer)
  })

  test('say whether nobody hears from them, and whether they are fenced', async () => {
    const now = app.clock.now()
    const state = async (): Promise<string> => (await operator.get('/operator/hosts')).body.data[0].state
    await app.db.run(sql`update hosts set unreachable_since = ${now}`)
    await app.db.run(sql`insert into host_paths (host_id, path, seen_at) values (${app.host.id}, 'CHASSIS', ${now})`)
    expect(await state()).toBe('unreachable')
    await app.db.run(sql`update host_paths set silent_since = ${now}`)
    expect(await state()).toBe('lost')
    await app.db.run(sql`update hosts set fenced_at = ${now}`)
    expect(await state()).toBe('fenced')
    await app.db.run(sql`update hosts set unreachable_since = null, fenced_at = null`)
    await app.db.run(sql`delete from host_paths`)
  })

  test('have a regional capacity equal to their sum', async () => {
    const [hosts, capacity] = [(await operator.get('/operator/hosts')).body.data, (await operator.get('/operator/capacity')).body.data]
    expect(capacity[0]).toMatchObject({ region: 'fra1', hosts: 1, vcpu: hosts[0].vcpu, ramMiB: hosts[0].ramMiB, diskGiB: hosts[0].diskGiB })
    const { used } = capacity[0].addresses as { used: number }
    await app.given.vm(await rich())
    expect((await operator.get('/operator/capacity')).body.data[0].addresses.used).toBe(used + 1)
  })
})

describe('pools and plans', () => {
  test('a pool is added once and must not overlap another', async () => {
    const pool = { region: 'fra1', cidr: '198.51.100.0/28', gateway: '198.51.100.1' }
    expect((await operator.post('/operator/pools', pool)).body.data).toMatchObject({ ...pool, host: null, free: 13, total: 13 })
    expect((await operator.post('/operator/pools', pool)).status).toBe(409)
    expect((await operator.post('/operator/pools', { ...pool, region: 'nowhere' })).status).toBe(404)
    expect((await operator.post('/operator/pools', { ...pool, cidr: '198.51.100.16/28' })).status).toBe(400)
    expect((await operator.post('/operator/pools', { ...pool, cidr: '', gateway: '' })).body.error).toBe(
      'Validation failed: cidr must be a range such as 198.51.100.0/24; gateway must be an address such as 198.51.100.1',
    )
  })

  test('a region is created, changed and withdrawn', async () => {
    const region = { slug: 'ams1', name: 'Amsterdam 1', country: 'NL', city: 'Amsterdam' }
    const made = await operator.post('/operator/regions', region)
    expect([made.status, made.body.data]).toEqual([201, { ...region, id: expect.any(String), flag: '🇳🇱', available: true }])
    expect((await operator.post('/operator/regions', region)).status).toBe(409)
    for (const wrong of [{ slug: 'A' }, { country: 'nl' }, { country: 'NLD' }, { name: '' }, { city: 'a\u0007' }])
      expect((await operator.post('/operator/regions', { ...region, slug: 'other', ...wrong })).status).toBe(400)
    const { id } = made.body.data as { id: string }
    const change = { name: 'Brussels 1', country: 'BE', available: false }
    expect((await operator.patch(`/operator/regions/${id}`, change)).body.data).toMatchObject({ ...change, flag: '🇧🇪', city: 'Amsterdam' })
    expect((await operator.patch(`/operator/regions/${id}`, {})).status).toBe(400)
    expect((await operator.patch('/operator/regions/nowhere', change)).status).toBe(404)
    const customer = await rich()
    expect((await customer.get('/regions')).body.data.map((each: { slug: string }) => each.slug)).toEqual(['fra1', 'ams1'])
    const refused = await customer.post('/vms', { ...(await app.given.vmInput()), regionId: id })
    expect(refused.headers['x-error-code']).toBe('unavailable')
    await app.db.run(sql`delete from regions where id = ${id}`)
  })

  test('a plan is created, sold, repriced and withdrawn', async () => {
    const plan = { slug: 'pico', name: 'Pico', vcpu: 1, ram: 512, disk: 10, bandwidth: 100, networkSpeed: 100, price: '1.50' }
    const made = await operator.post('/operator/plans', plan)
    expect(made.body.data).toMatchObject({ slug: 'pico', priceMonthly: '1.50', regions: ['fra1'], available: true, throttleMbps: 10 })
    expect((await operator.post('/operator/plans', plan)).status).toBe(409)
    const { id } = made.body.data as { id: string }
    const customer = await rich()
    await app.given.vm(customer, { planId: id })
    expect((await customer.get('/wallet')).body.data.balance).toBe('98.50')
    expect((await operator.patch(`/operator/plans/${id}`, { price: '2.00', available: false })).body.data).toMatchObject({
      priceMonthly: '2.00',
      available: false,
    })
    expect((await customer.post('/vms', { ...(await app.given.vmInput()), planId: id })).headers['x-error-code']).toBe('unavailable')
  })
})

describe('accounts', () => {
  test('are found by part of their email address', async () => {
    const { accountId, email } = await rich()
    const found = await operator.get(`/operator/accounts?q=${encodeURIComponent(email.slice(0, -4).toUpperCase())}`)
    expect(found.body.data).toMatchObject([{ id: accountId, email, balance: '100.00', vmCount: 0, suspendedAt: null }])
    expect((await operator.get('/operator/accounts?q=%25')).body.data).toEqual([])
    expect((await operator.get('/operator/accounts')).body.pagination.total).toBeGreaterThan(1)
  })

  test('are credited and adjusted with a reason that the customer sees', async () => {
    const customer = await rich()
    const path = `/operator/accounts/${customer.accountId}`
    expect((await operator.post(`${path}/credit`, { amount: '5', reason: 'Sorry' })).body.data).toMatchObject({
      amount: '5.00',
      balance: '105.00',
    })
    expect((await operator.post(`${path}/credit`, { amount: '-5', reason: 'No' })).status).toBe(400)
    expect((await operator.post(`${path}/adjust`, { amount: '-105.01', reason: 'No' })).status).toBe(402)
    expect((await operator.post(`${path}/adjust`, { amount: '-100.00', reason: 'Credited twice' })).body.data.balance).toBe('5.00')
    const { body } = await customer.get('/wallet/transactions')
    expect(body.data).toMatchObject([{ description: 'Credited twice' }, { description: 'Sorry' }, {}])
    const log = (await customer.get('/audit-log')).body.data as { action: string; actor: { type: string } }[]
    expect(log.map(({ action, actor }) => `${actor.type} ${action}`)).toEqual(['operator account adjust', 'operator account credit'])
  })

  test('of the operator are credited with one entry in the audit log, which names the operator', async () => {
    const credits = async (): Promise<string[]> => {
      const log = (await operator.get('/v1/audit-log')).body.data as { action: string; actor: { type: string } }[]
      return log.filter(({ action }) => /credit/i.test(action)).map(({ action, actor }) => `${actor.type} ${action}`)
    }
    const before = await credits() // of other accounts, by the tests before
    const credited = await operator.post(`/operator/accounts/${operator.person.accountId}/credit`, { amount: '5', reason: 'Test' })
    expect(credited.status).toBe(201)
    expect(await credits()).toEqual(['person operatorCreditAccount', ...before])
  })

  test('have quotas that can be raised and reset', async () => {
    const customer = await rich()
    const path = `/operator/accounts/${customer.accountId}/limits/vms`
    const raised = await operator.put(path, { limit: 50 })
    expect(raised.body.data).toContainEqual({ name: 'vms', limit: 50, used: 0, isDefault: false })
    expect((await customer.get('/account/limits')).body.data).toContainEqual({ name: 'vms', limit: 50, used: 0 })
    expect((await operator.put(path, { limit: null })).body.data).toContainEqual({ name: 'vms', limit: 10, used: 0, isDefault: true })
    const each = await operator.put(path.replace('vms', 'snapshots_per_vm'), { limit: 6 })
    expect(each.body.data).toContainEqual({ name: 'snapshots_per_vm', limit: 6, used: null, isDefault: false })
    expect((await operator.put(path.replace('vms', 'wishes'), { limit: 1 })).body.error).toContain('there is no limit named "wishes"')
  })

  test('get a user by an invite link', async () => {
    const { accountId, email } = await rich()
    const { body } = await operator.post(`/operator/accounts/${accountId}/set-up-link`)
    expect(body.data.url).toMatch(/^http:\/\/localhost\/reset#lnk_/)
    const customer = browserOf(app)
    const token = (body.data.url as string).split('#')[1]
    expect((await customer.post('/password-reset/complete', { token, password: PASSWORD })).body.data.account.id).toBe(accountId)
    const { users } = (await operator.get(`/operator/accounts/${accountId}`)).body.data as { users: unknown[] }
    expect(users).toMatchObject([{ email, hasPassword: true, isOperator: false }])
  })

  test('are suspended with their VMs, get no new VM, and are unsuspended', async () => {
    const customer = await rich()
    const [running, stopped] = [await app.given.vm(customer), await app.given.vm(customer)]
    await customer.post(`/vms/${stopped.id}/stop`)
    await app.settle()
    const busy = await app.given.vm(customer, {}, { settled: false })
    const path = `/operator/accounts/${customer.accountId}`
    const suspended = (await operator.post(`${path}/suspend`, { reason: 'Spam' })).body.data
    expect(suspended.account.suspendedAt).toBe(app.clock.now().toISOString())
    expect(suspended.actionIds).toHaveLength(2)
    await app.settle()
    const status = async (id: string) => (await customer.get(`/vms/${id}`)).body.data.status as string
    expect([await status(running.id), await status(stopped.id)]).toEqual(['SUSPENDED', 'SUSPENDED'])
    expect(await status(busy.id)).toBe('RUNNING')
    const refused = await customer.post('/vms', await app.given.vmInput())
    expect([refused.status, refused.body.error]).toEqual([422, 'This account is suspended and gets nothing new. Open a ticket to ask why'])
    expect((await customer.post('/tickets', { subject: 'Why?', body: 'Why?' })).status).toBe(201)
    await operator.post(`${path}/unsuspend`)
    await app.settle()
    expect([await status(running.id), await status(stopped.id)]).toEqual(['RUNNING', 'STOPPED'])
    await app.given.vm(customer)
  })
})

describe('VMs', () => {
  test('of all accounts are listed and filtered', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const { body } = await operator.get(`/operator/vms?account=${customer.accountId}&status=RUNNING&host=${app.host.id}`)
    expect(body.data).toMatchObject([{ id, email: customer.email, status: 'RUNNING', host: 'local' }])
    expect((await operator.get(`/operator/vms?account=${customer.accountId}&status=STOPPED`)).body.data).toEqual([])
  })

  test('of all accounts are found by a part of the name, the id, and any address', async () => {
    const customer = await rich()
    const network = await customer.post('/networks', { name: 'net', nodeId: app.host.id, cidr: '10.92.0.0/24' })
    const { id } = await app.given.vm(customer, { hostname: 'needle-1', privateNetworkIds: [network.body.data.id] })
    const { ipAddress, privateNetworks } = (await customer.get(`/vms/${id}`)).body.data
    const found = async (q: string) =>
      (await operator.get(`/operator/vms?q=${encodeURIComponent(q)}`)).body.data.map((vm: { id: string }) => vm.id)
    for (const q of ['NEEDLE', id, ipAddress, privateNetworks[0].ipAddress]) expect(await found(q), q).toEqual([id])
    for (const q of ['needle%', 'needle_1', '192.0.2.99', id.slice(1)]) expect(await found(q), q).toEqual([])
  })

  test('are suspended, unsuspended, unmanaged and adopted', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const status = async () => (await customer.get(`/vms/${id}`)).body.data.status as string
    for (const [verb, expected] of [
      ['suspend', 'SUSPENDED'],
      ['unsuspend', 'RUNNING'],
      ['unmanage', 'UNMANAGED'],
      ['adopt', 'RUNNING'],
    ] as const) {
      expect((await operator.post(`/operator/vms/${id}/${verb}`)).status).toBeLessThan(300)
      await app.settle({ subjectId: id })
      expect([verb, await status()]).toEqual([verb, expected])
    }
    expect((await operator.post(`/operator/vms/${id}/adopt`)).headers['x-error-code']).toBe('invalid_state')
  })
})

describe('a busy VM', () => {
  const busy = async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    expect((await customer.post(`/vms/${id}/restart`)).status).toBe(202)
    const shown = async () => (await customer.get(`/vms/${id}`)).body.data as { status: string; allowedActions: string[] }
    const restart = async () => (await customer.post(`/vms/${id}/restart`)).headers['x-error-code']
    return { customer, id, shown, restart, order: (verb: string) => operator.post(`/operator/vms/${id}/${verb}`) }
  }

  test('is suspended when its action ends, and starts no other until then', async () => {
    const { id, shown, restart, order } = await busy()
    for (const _ of [1, 2]) {
      const { status, body } = await order('suspend')
      expect([status, body.data]).toEqual([202, { message: 'The VM is suspended as soon as its action RESTART has ended', actionId: null }])
    }
    await app.settle({ subjectId: id })
    expect(await shown()).toMatchObject({ status: 'RUNNING', allowedActions: ['stop', 'delete'] })
    expect(await restart()).toBe('invalid_state')
    await enforceSuspension.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect(await shown()).toMatchObject({ status: 'SUSPENDED', statusReason: 'Suspended by the operator. Contact support' })
    await order('unsuspend')
    await app.settle({ subjectId: id })
    expect(await shown()).toMatchObject({ status: 'RUNNING', allowedActions: expect.arrayContaining(['restart']) })
  })

  test('is not suspended when the order is withdrawn before its action ends', async () => {
    const { id, shown, restart, order } = await busy()
    await order('suspend')
    expect((await order('unsuspend')).body.data).toEqual({ message: 'The VM is not suspended', actionId: null })
    await app.settle({ subjectId: id })
    await enforceSuspension.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect((await shown()).status).toBe('RUNNING')
    expect(await restart()).toBeUndefined()
    await app.settle({ subjectId: id })
  })

  test('is unmanaged when its action ends, and starts no other until then', async () => {
    const { id, shown, restart, order } = await busy()
    const { status, body } = await order('unmanage')
    expect([status, body.data.message]).toEqual([200, 'The VM is unmanaged as soon as its action RESTART has ended'])
    await app.settle({ subjectId: id })
    expect(await restart()).toBe('invalid_state')
    await enforceSuspension.runOnce(app.deps)
    expect((await shown()).status).toBe('UNMANAGED')
    await order('adopt')
    expect(await shown()).toMatchObject({ status: 'RUNNING', allowedActions: expect.arrayContaining(['restart']) })
  })

  test('that was suspended as unpaid meanwhile is held by the operator, and not brought back by a payment', async () => {
    const { id, customer, shown, order } = await busy()
    await app.settle({ subjectId: id })
    await app.db.tx((tx) => suspend(tx, app.deps, { accountId: customer.accountId }, id, true))
    expect((await order('suspend')).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await shown()).toMatchObject({
      status: 'SUSPENDED',
      billing: { status: 'ACTIVE' },
      statusReason: 'Suspended by the operator. Contact support',
    })
  })
})

describe('actions', () => {
  test('are listed with every step, and retried at once when they wait', async () => {
    const customer = await rich()
    const { actionId } = await app.given.vm(customer, {}, { settled: false })
    const later = new Date(app.clock.now().getTime() + 25_000)
    await app.db.run(sql`update workflow_runs set next_attempt_at = ${later} where id = ${actionId}`)
    const waiting = (await operator.get(`/operator/actions?account=${customer.accountId}&status=PENDING`)).body.data
    expect(waiting).toMatchObject([
      { id: actionId, workflow: 'vm.provision', action: 'CREATE', email: customer.email, nextAttemptAt: later.toISOString() },
    ])
    const retried = await operator.post(`/operator/actions/${actionId}/retry`)
    expect([retried.status, retried.body.data.nextAttemptAt]).toEqual([202, app.clock.now().toISOString()])
    await app.db.run(sql`update workflow_runs set lease_until = ${later} where id = ${actionId}`)
    expect((await operator.post(`/operator/actions/${actionId}/retry`)).headers['x-error-code']).toBe('busy')
    await app.db.run(sql`update workflow_runs set lease_until = null where id = ${actionId}`)
    await app.settle()
    const { body } = await operator.get(`/operator/actions/${actionId}`)
    expect(body.data).toMatchObject({
      status: 'COMPLETED',
      isCleanupFailed: false,
      steps: expect.arrayContaining([expect.objectContaining({ name: 'boot', tries: 1 })]),
    })
    expect((await operator.post(`/operator/actions/${actionId}/retry`)).headers['x-error-code']).toBe('invalid_state')
  })
})

describe('quarantine and health', () => {
  test('list pending removals and alerts', async () => {
    const [id, now] = [newId(), app.clock.now()]
    await app.db.run(sql`
      insert into orphan_volumes (host_id, kind, id, vm_id, generation, size_bytes, is_old_disk, first_seen_at, last_seen_at)
      values (${app.host.id}, 'disk', ${id}, null, 1, 4096, false, ${now}, ${now})`)
    const removedAfter = new Date(now.getTime() + 86_400_000).toISOString()
    expect((await operator.get('/operator/quarantine')).body.data).toMatchObject([{ host: 'local', id, sizeBytes: '4096', removedAfter }])
    const { body } = await operator.get('/operator/health')
    expect(body.data.checks).toContainEqual({ name: 'database', isOk: true, message: 'ok' })
    expect(body.data.checks).toContainEqual({ name: 'host', isOk: true, message: 'ok' })
    await app.db.run(sql`update hosts set unreachable_since = ${now} where id = ${app.host.id}`)
    const { checks } = (await operator.get('/operator/health')).body.data
    expect(checks).toContainEqual({ name: 'host', isOk: false, message: '1 host unreachable: berthd doctor hosts' })
    await app.db.run(sql`update hosts set unreachable_since = null where id = ${app.host.id}`)
    expect(body.data.counts).toContainEqual({ name: 'quarantinedVolumes', count: 1, isAlert: false })
    expect(body.data.counts).toContainEqual({ name: 'cleanupFailedActions', count: 0, isAlert: false })
    await app.db.run(sql`delete from orphan_volumes where id = ${id}`)
  })

  test('report failed invariants found by another process', async () => {
    const look = async () => {
      await createInvariantMonitor()({ ...app.deps, metrics: createMetrics() })
      return (await operator.get('/operator/health')).body.data.counts
    }
    await app.db.run(sql`update hosts set vcpu_used = vcpu_used + 1`)
    expect(await look()).toContainEqual({ name: 'invariantViolations', count: 1, isAlert: true })
    await app.db.run(sql`update hosts set vcpu_used = vcpu_used - 1`)
    expect(await look()).toContainEqual({ name: 'invariantViolations', count: 0, isAlert: false })
  })

  test('templates without an image show the command to run', async () => {
    const { body } = await operator.get('/operator/templates')
    expect(body.data).toContainEqual(
      expect.objectContaining({ slug: 'debian-12', state: 'simulated', command: 'npx berthd template build debian-12' }),
    )
  })
})

describe('tickets', () => {
  test('are answered and closed, visibly to the customer', async () => {
    const customer = await rich()
    const { id } = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data as { id: string }
    const listed = await operator.get(`/operator/tickets?account=${customer.accountId}`)
    expect(listed.body.data).toMatchObject([{ id, email: customer.email, accountId: customer.accountId, status: 'OPEN' }])
    const replied = await operator.post(`/operator/tickets/${id}/replies`, { body: 'Here you are' })
    expect([replied.status, replied.body.data.ticket.status]).toEqual([201, 'ANSWERED'])
    expect((await operator.get(`/operator/tickets/${id}`)).body.data.replies).toHaveLength(1)
    await operator.post(`/operator/tickets/${id}/close`)
    expect((await customer.get(`/tickets/${id}`)).body.data).toMatchObject({
      status: 'CLOSED',
      replies: [{ author: 'staff', body: 'Here you are' }],
    })
    expect((await operator.get(`/operator/tickets?account=${customer.accountId}`)).body.data).toEqual([])
  })
})
