// An operator has suspended an account: its VMs do not run, are not charged and are not deleted until the suspension is lifted.
import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { generateKey } from '../../../test/openssh-keys.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import { sql } from '../../kernel/database/db.ts'
import { recordEvent } from '../events/service.ts'
import { suspendAccount, unsuspendAccount } from '../operator/customers.ts'
import { enforceSuspension } from '../vms/reconcilers/enforce-suspension.reconciler.ts'
import { syncPowerStates } from '../vms/reconcilers/power-sync.reconciler.ts'
import { startUnsuspension } from '../vms/service.ts'
import { runBillingStep } from './renewal-step.ts'

describe('in a suspended account', async () => {
  const app = await testApp()
  const { vm, beyondGrace, turn, toRenewal, balance, deposit, renewalsOf, events } = await billingFixture(app)
  const { faults, drift } = app.simulated
  type Customer = Awaited<ReturnType<typeof app.given.customer>>

  const suspend = ({ accountId }: Customer) => app.db.tx((tx) => suspendAccount(tx, app.deps, accountId, 'Spam'))
  const lift = ({ accountId }: Customer) => app.db.tx((tx) => unsuspendAccount(tx, app.deps, accountId))
  /** Runs every reconciler that acts on VMs, and all workflows they started. */
  const rest = async () => {
    await enforceSuspension.runOnce(app.deps)
    await turn()
  }
  const states = async (customer: Customer, id: string) => {
    const { status, billing } = await vm(customer, id)
    return [status, billing.status]
  }
  /** A VM suspended for an unpaid renewal. */
  const unpaid = async () => {
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await app.given.vm(customer)
    await beyondGrace(customer, id)
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    return { customer, id }
  }
  const inError = async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await app.db.run(sql`update vms set status = 'ERROR' where id = ${id}`)
    await drift.stopMachine(id, 'crash')
    return { customer, id }
  }

  test('an unpaid VM is neither unsuspended by a deposit nor charged or deleted, and is once the suspension is lifted', async () => {
    const { customer, id } = await unpaid()
    await suspend(customer)
    expect((await vm(customer, id)).statusReason).toBe('Suspended by the operator. Contact support')
    await deposit(customer, '100.00')
    expect(await app.db.tx((tx) => runBillingStep(tx, app.deps, id))).toBe(false) // a process that selected it as due before the suspension
    for (const days of ['1d', '30d']) {
      await rest()
      expect([await states(customer, id), await balance(customer)]).toEqual([['SUSPENDED', 'SUSPENDED'], '100.00'])
      app.clock.advance(days)
    }
    expect((await customer.get('/wallet')).body.data.dueNext7Days).toBe('0.00')
    await lift(customer)
    await rest()
    expect([await states(customer, id), await balance(customer)]).toEqual([['RUNNING', 'ACTIVE'], '94.00'])
    expect((await events(id)).slice(-3)).toEqual(['vm.suspended', 'vm.renewed', 'vm.started'])
  })

  test('an unpaid VM is kept for a week after the suspension is lifted', async () => {
    const { customer, id } = await unpaid()
    await suspend(customer)
    app.clock.advance('30d')
    await lift(customer)
    expect((await vm(customer, id)).statusReason).toBe('Payment overdue: restarts automatically once the balance covers the renewal')
    app.clock.advance('6d')
    await rest()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    app.clock.advance('1d')
    await rest()
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
  })

  test('a paid VM whose unsuspension failed stays suspended until the account is lifted, and is charged once', async () => {
    const { customer, id } = await unpaid()
    await faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
    await deposit(customer, '6.00')
    await turn()
    await suspend(customer)
    app.clock.advance('10m')
    await rest()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    await lift(customer)
    await rest()
    expect([await states(customer, id), (await renewalsOf(customer, id)).length]).toEqual([['RUNNING', 'ACTIVE'], 1])
  })

  test('a busy VM is suspended once it is idle, and not charged', async () => {
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await app.given.vm(customer)
    await toRenewal(customer, id)
    await customer.post(`/vms/${id}/restart`)
    expect((await suspend(customer)).skipped).toMatchObject([{ vmId: id, reason: expect.stringContaining('RESTART') }])
    await deposit(customer, '100.00')
    await rest()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
    await rest()
    expect([await states(customer, id), await balance(customer)]).toEqual([['SUSPENDED', 'ACTIVE'], '100.00'])
  })

  test('a VM being provisioned is suspended once it runs', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer, {}, { settled: false })
    expect((await suspend(customer)).skipped).toMatchObject([{ vmId: id }])
    await app.settle()
    await rest()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'ACTIVE'])
    await lift(customer)
    await rest()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
  })

  test('a failed VM suspension is retried', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await faults.plant({ verb: 'ensureStopped', kind: 'permanent' })
    await suspend(customer)
    await app.settle()
    await rest()
    expect((await vm(customer, id)).status).toBe('RUNNING')
    app.clock.advance('2m')
    await rest()
    expect((await vm(customer, id)).status).toBe('SUSPENDED')
  })

  test('a VM in ERROR cannot be started and is not charged for that time', async () => {
    const { customer, id } = await inError()
    const { osTemplateId } = await app.given.vmInput()
    await suspend(customer)
    for (const [path, body] of [['start'], ['rebuild', { osTemplateId }]] as const) {
      const { status, headers, body: answer } = await customer.post(`/vms/${id}/${path}`, body)
      const sentence = 'This account is suspended, so nothing of it is started or changed: open a ticket to ask why'
      expect([status, headers['x-error-code'], answer.error]).toEqual([409, 'invalid_state', sentence])
    }
    expect((await vm(customer, id)).allowedActions).toEqual(['delete'])
    expect((await customer.post(`/vms/${id}/bandwidth/packs`, { gigabytes: 10 })).status).toBe(409)
    await toRenewal(customer, id)
    app.clock.advance('70d')
    await rest()
    expect([await states(customer, id), await balance(customer)]).toEqual([['ERROR', 'ACTIVE'], '94.00'])
    await lift(customer)
    await rest()
    expect([await states(customer, id), await balance(customer)]).toEqual([['ERROR', 'ACTIVE'], '88.00'])
    expect((await customer.post(`/vms/${id}/start`)).status).toBe(202)
    await app.settle()
  })

  test('a VM that failed to provision is not provisioned again', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    await faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer)
    await suspend(customer)
    const { osTemplateId } = await app.given.vmInput()
    expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId })).status).toBe(409)
    await lift(customer)
    expect([await states(customer, id), await balance(customer)]).toEqual([['ERROR', 'CANCELLED'], '100.00'])
  })

  test('a running VM can be stopped and deleted, but neither changed nor copied', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id } = await app.given.vm(customer)
    const snapshotId = (await customer.post(`/vms/${id}/snapshots`, { name: 'one' })).body.data.snapshot.id as string
    await app.settle()
    const backupId = (await customer.post(`/vms/${id}/backups`, { name: 'one' })).body.data.backup.id as string
    await app.settle()
    await app.db.run(sql`update accounts set suspended_at = ${app.clock.now()} where id = ${customer.accountId}`)
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const { osTemplateId } = await app.given.vmInput()
    const calls: [string, object?][] = [
      ['restart'],
      ['upgrade', { planId: plans.find(({ slug }) => slug === 'large')!.id }],
      ['rebuild', { osTemplateId }],
      ['password', { password: 'correct horse' }],
      ['snapshots', { name: 'two' }],
      [`snapshots/${snapshotId}/restore`],
      ['backups', { name: 'two' }],
      [`backups/${backupId}/restore`],
      ['console', { type: 'serial' }],
    ]
    for (const [path, body] of calls) {
      const { headers } = await customer.post(`/vms/${id}/${path}`, body)
      expect([path, headers['x-error-code']]).toEqual([path, 'invalid_state'])
    }
    expect((await vm(customer, id)).allowedActions).toEqual(['stop', 'delete'])
    expect((await customer.post(`/vms/${id}/stop`)).status).toBe(202)
    await app.settle()
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle()
  })

  test('a VM powered off by its host is not started, and runs again once the suspension is lifted', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await app.db.run(sql`update accounts set suspended_at = ${app.clock.now()} where id = ${customer.accountId}`)
    await drift.stopMachine(id, 'host')
    for (let look = 0; look < 2; look++) {
      await syncPowerStates.runOnce(app.deps)
      app.clock.advance('11s')
    }
    expect(await vm(customer, id)).toMatchObject({ status: 'STOPPED', currentAction: null })
    await rest()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'ACTIVE'])
    await lift(customer)
    await app.settle()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
  })

  test('nothing new is created but tickets, and no webhook is tested, sent again or given another URL', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const webhook = { url: 'https://hooks.example.com/berth', events: ['vm.created'] }
    const { id: webhookId } = (await customer.post('/webhooks', webhook)).body.data as { id: string }
    const event = await app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(customer.accountId, 'vm.created')))
    const [delivery] = (await customer.get(`/webhooks/${webhookId}/deliveries`)).body.data as { id: string; eventId: string }[]
    expect(delivery!.eventId).toBe(event.id)
    await app.db.run(sql`
      update webhook_deliveries set status = 'EXHAUSTED', next_attempt_at = null, completed_at = created_at where id = ${delivery!.id}`)
    await suspend(customer)
    const refused = async (path: string, body?: object) => {
      const { status, headers } = await customer.post(path, body)
      return [path, status, headers['x-error-code']]
    }
    for (const [path, body] of [
      ['/networks', { name: 'one', nodeId: app.host.id, cidr: '10.0.0.0/24' }],
      ['/firewalls', { name: 'one' }],
      ['/webhooks', webhook],
      ['/ssh-keys', { name: 'one', publicKey: generateKey().line }],
    ] as const)
      expect(await refused(path, body)).toEqual([path, 422, 'quota_exceeded'])
    for (const path of [`/webhooks/${webhookId}/test`, `/webhooks/${webhookId}/deliveries/${delivery!.id}/redeliver`])
      expect(await refused(path)).toEqual([path, 409, 'invalid_state'])
    const moved = await customer.patch(`/webhooks/${webhookId}`, { url: 'https://victim.example.com/' })
    expect([moved.status, moved.headers['x-error-code'], moved.body.error]).toEqual([
      409,
      'invalid_state',
      'This account is suspended, so nothing is sent for it: open a ticket to ask why',
    ])
    expect((await customer.patch(`/webhooks/${webhookId}`, { url: webhook.url, isActive: false })).status).toBe(200)
    expect((await customer.post('/tickets', { subject: 'Why?', body: 'We sent no spam' })).status).toBe(201)
    await lift(customer)
    expect((await customer.post('/firewalls', { name: 'one' })).status).toBe(201)
  })

  test('a single VM can neither be unsuspended nor get an add-on', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await suspend(customer)
    await app.settle()
    expect((await customer.patch(`/vms/${id}`, { dailyBackupEnabled: true })).status).toBe(409)
    expect((await customer.patch(`/vms/${id}`, { name: 'mine', isProtected: true })).status).toBe(200)
    const single = app.db.tx((tx) => startUnsuspension(tx, app.deps, id))
    await expect(single).rejects.toThrow('The account of this VM is suspended: lift that first')
  })

  test('lifting the suspension reports a VM that is still being suspended as skipped', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await suspend(customer)
    expect(await lift(customer)).toMatchObject({ actionIds: [], skipped: [{ vmId: id, reason: expect.stringContaining('SUSPEND') }] })
    await app.settle()
    expect((await lift(customer)).actionIds).toHaveLength(1)
    await app.settle()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
  })
})
