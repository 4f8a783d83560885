// POST /vms with fromBackupId.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { allowManyVms, diskOf, givenSecondHost, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { removeInTargets } from './purge-targets.reconciler.ts'
import { removeBackups } from './purge.reconciler.ts'

describe('POST /vms from a backup', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const { osTemplateId, ...input } = await app.given.vmInput()
  const { id: vmId } = await app.given.vm(customer, { hostname: 'old' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const plan = (slug: string) => ({ planId: plans.find((each) => each.slug === slug)!.id })

  const daily = async (moment: string): Promise<string> => {
    await diskOf(app, vmId).write(moment)
    const { id } = await startDailyBackup(app, vmId)
    await app.settle()
    return id
  }
  const create = async (fromBackupId: string, more: object = {}) => {
    const { status, body } = await customer.post('/vms', { ...input, hostname: 'new', fromBackupId, ...more })
    expect([status, body.error]).toEqual([202, undefined])
    await app.settle()
    return (await customer.get(`/vms/${body.data.vm.id}`)).body.data
  }
  const momentOf = async (id: string) => {
    const { host_id } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${id}`)
    return controlOf(app, host_id).drift.readFile(id, 'moment')
  }
  const refusal = async (body: object, as: Pick<typeof customer, 'post'> = customer) => {
    const { status, headers, body: answer } = await as.post('/vms', { ...input, hostname: 'new', ...body })
    return { status, code: headers['x-error-code'], error: answer.error as string }
  }
  const usage = () =>
    app.db.one(sql`select (select sum(disk_used_gib) from hosts) as disk, (select count(*) from vms) as vms,
      (select sum(used) from account_quotas where account_id = ${customer.accountId}) as quota`)

  const [full, increment] = [await daily('first'), await daily('second')]

  test('makes a guest of its own with the disk of the backup, from a chain on a host', async () => {
    expect(await app.db.one(sql`select parent_id from backups where id = ${increment}`)).toEqual({ parent_id: full })
    const shown = (await customer.get(`/vms/${vmId}/backups/${increment}`)).body.data
    expect(shown).toMatchObject({ disk: 25 })
    const vm = await create(increment, { password: 'a new password' })
    expect(vm).toMatchObject({ status: 'RUNNING', hostname: 'new', osTemplate: { slug: 'debian-12' }, billing: { priceMonthly: '6.00' } })
    expect(await momentOf(vm.id)).toBe('second')
    const login = await app.simulated.drift.login(vm.id)
    expect(login).toMatchObject({ hostname: 'new', passwordHash: expect.stringMatching(/^\$6\$/) })
    expect(await volumesOf(app, vm.id)).toEqual(['disk 1', 'seed 1'])
    const events = (await customer.get('/events?limit=100')).body.data as {
      type: string
      data: { vm?: { id: string }; backup?: { id: string } }
    }[]
    expect(events.filter(({ data }) => data.vm?.id === vm.id).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['vm.provisioning', 'vm.created', 'vm.started', 'backup.restored']),
    )
    expect(await diskOf(app, vmId).read()).toBe('second')
    expect((await app.simulated.drift.login(vmId)).hostname).toBe('old')
    expect(await momentOf((await create(full)).id)).toBe('first')
  })

  test('costs what a VM costs, and a dry run changes nothing', async () => {
    const before = await usage()
    const { body } = await customer.post('/vms?dryRun=true', { ...input, hostname: 'new', fromBackupId: full, ...plan('medium') })
    expect(body.data).toMatchObject({ charge: '12.00', monthly: '12.00' })
    expect(await usage()).toEqual(before)
    const key = { 'idempotency-key': 'from-backup' }
    const first = await customer.post('/vms', { ...input, hostname: 'new', fromBackupId: full }, key)
    const again = await customer.post('/vms', { ...input, hostname: 'new', fromBackupId: full }, key)
    expect(again.body).toEqual(first.body)
    await app.settle()
  })

  test('is refused for a disk that is too small, for both sources and for none', async () => {
    expect(await refusal({ fromBackupId: full, ...plan('nano') })).toEqual({
      status: 422,
      code: 'incompatible',
      error: 'The disk of the backup has 25 GiB: choose a plan with at least as much',
    })
    expect(await refusal({ fromBackupId: full, osTemplateId })).toMatchObject({ status: 400, error: expect.stringContaining('not both') })
    expect(await refusal({})).toMatchObject({ status: 400, error: expect.stringContaining('osTemplateId is required') })
  })

  test('is refused for a plan with replicated storage in a region without any', async () => {
    await app.db.run(sql`update plans set storage = 'REPLICATED' where slug = 'small'`)
    const refused = { status: 422, code: 'unavailable', error: expect.stringContaining('has no replicated storage') }
    expect(await refusal({ fromBackupId: full, ...plan('small') })).toEqual(refused)
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
  })

  test('is refused for a backup of another account, one that is not made, and one that was deleted', async () => {
    const stranger = await app.given.customer({ credit: '1000.00' })
    const missing = { status: 404, code: 'not_found', error: 'Backup not found' }
    expect(await refusal({ fromBackupId: full }, stranger)).toEqual(missing)
    expect(await refusal({ fromBackupId: 'cunknown12' })).toEqual(missing)
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    expect(await refusal({ fromBackupId: id })).toMatchObject({
      status: 409,
      code: 'invalid_state',
      error: expect.stringContaining('PENDING'),
    })
    await app.settle()
    await customer.delete(`/vms/${vmId}/backups/${id}`)
    expect(await refusal({ fromBackupId: id })).toMatchObject({ status: 409, error: expect.stringContaining('DELETING') })
    await removeBackups.runOnce(app.deps)
    expect(await refusal({ fromBackupId: id })).toEqual(missing)
  })

  test('needs the scope backups:restore', async () => {
    const token = await app.given.token(customer.accountId, { scopes: ['vms:create', 'backups:read'] })
    expect(await refusal({ fromBackupId: full }, token)).toMatchObject({
      status: 403,
      code: 'missing_scope',
      error: 'This token lacks the required scope: backups:restore',
    })
  })

  test('works when the template is no longer offered', async () => {
    await app.db.run(sql`update os_templates set available = false where id = ${osTemplateId}`)
    expect(await refusal({ osTemplateId })).toMatchObject({ status: 422, code: 'unavailable' })
    expect(await create(full)).toMatchObject({ status: 'RUNNING', osTemplate: { slug: 'debian-12' } })
    await app.db.run(sql`update os_templates set available = true where id = ${osTemplateId}`)
  })

  test('gives everything back when the disk cannot be made', async () => {
    const before = await usage()
    const balance = (await customer.get('/wallet')).body.data.balance
    await app.simulated.faults.plant({ verb: 'ensureBackupFromExtents', kind: 'permanent' })
    const vm = await create(full)
    await app.simulated.faults.clear()
    expect(vm).toMatchObject({ status: 'ERROR', allowedActions: ['rebuild', 'delete'] })
    expect(await volumesOf(app, vm.id)).toEqual([])
    expect((await customer.get('/wallet')).body.data.balance).toBe(balance)
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    expect(await usage()).toEqual(before)
    await app.checkInvariants()
  })
})

describe('a VM from a backup in a target', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const second = await givenSecondHost(app)
  await givenBackupTarget(app)
  const { osTemplateId: _, ...input } = await app.given.vmInput()

  const given = async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('kept')
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    return { vmId, id }
  }
  const create = async (fromBackupId: string) => (await customer.post('/vms', { ...input, fromBackupId })).body.data.vm.id as string

  test('runs on any host of the region', async () => {
    const { id } = await given()
    await app.db.run(sql`update hosts set maintenance = true where id = ${app.host.id}`)
    const vmId = await create(id)
    await app.settle()
    await app.db.run(sql`update hosts set maintenance = false where id = ${app.host.id}`)
    expect(await controlOf(app, second.id).drift.readFile(vmId, 'moment')).toBe('kept')
    expect(await volumesOf(app, vmId)).toEqual(['disk 1 on second', 'seed 1 on second'])
  })

  test('is made although the backup, or its VM, is deleted meanwhile; then nothing of either is left', async () => {
    const [one, other] = [await given(), await given()]
    const made = [await create(one.id), await create(other.id)]
    await customer.delete(`/vms/${one.vmId}/backups/${one.id}`)
    await customer.delete(`/vms/${other.vmId}`)
    await app.settle({ subjectId: other.vmId })
    const left = () => app.db.many(sql`select id from backups where id = any(${[one.id, other.id]}::text[])`)
    await removeInTargets.runOnce(app.deps)
    expect(await left()).toHaveLength(2)
    await app.settle()
    for (const vmId of made) expect(await diskOf(app, vmId).read()).toBe('kept')
    await removeInTargets.runOnce(app.deps)
    expect(await left()).toEqual([])
    await app.checkInvariants()
  })
})
