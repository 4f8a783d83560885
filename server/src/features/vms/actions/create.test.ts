import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { nativeArch } from '../../../kernel/arch.ts'
import { sql } from '../../../kernel/database/db.ts'
import { noteBuilding, noteBuilt, type TemplateRow } from '../../catalog/service.ts'
import { requireFits } from './create.ts'

test('a template without an image is refused, with the hint to wait while it is being built', () => {
  const template = { slug: 'debian-12', lacks_image: true } as TemplateRow
  const refuse = () => requireFits(template, { ramMiB: 1024, diskGiB: 10 })
  expect(refuse).toThrow('debian-12 is not available yet, as it has no image')
  noteBuilding('debian-12')
  expect(refuse).toThrow('debian-12 is being built: try again in a few minutes')
  noteBuilt('debian-12')
  expect(refuse).toThrow('debian-12 is not available yet, as it has no image')
})

describe('POST /vms', async () => {
  const app = await testApp()
  const input = await app.given.vmInput()
  const rich = () => app.given.customer({ credit: '1000.00' })
  const balance = async (customer: Awaited<ReturnType<typeof rich>>) => (await customer.get('/wallet')).body.data.balance as string
  const plans = (await (await rich()).get('/plans')).body.data as { id: string; slug: string }[]
  const plan = (slug: string) => plans.find((each) => each.slug === slug)!.id

  test('charges and starts the action at once, and the VM is RUNNING when the action completes', async () => {
    const customer = await rich()
    const { status, headers, body } = await customer.post('/vms', { ...input, hostname: 'web-1' })
    expect(status).toBe(202)
    const { vm, actionId } = body.data
    expect(headers['location']).toBe(`/api/public/v1/vms/${vm.id}/actions/${actionId}`)
    expect(vm).toMatchObject({
      name: 'web-1',
      hostname: 'web-1',
      status: 'PROVISIONING',
      plan: { slug: 'small', priceMonthly: '6.00' },
      readiness: 'booting',
    })
    expect(vm.currentAction).toEqual({ id: actionId, action: 'CREATE', status: 'PENDING', progress: 0 })
    expect(vm.allowedActions).toEqual([])
    expect(await balance(customer)).toBe('994.00')

    await app.settle()
    const { data: action } = (await customer.get(`/vms/${vm.id}/actions/${actionId}`)).body
    expect(action).toMatchObject({ action: 'CREATE', status: 'COMPLETED', progress: 100, error: null })
    expect(action.steps.map((step: { name: string }) => step.name)).toEqual(['networks', 'firewall', 'disk', 'boot', 'ready'])
    const { data: running } = (await customer.get(`/vms/${vm.id}`)).body
    expect(running).toMatchObject({ status: 'RUNNING', readiness: 'reachable', currentAction: null, ipAddress: vm.ipAddress })
    expect(running.allowedActions).toContain('restart')
  })

  test('shows every field of the detail form, and the list shows exactly the list fields', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const { data: vm } = (await customer.get(`/vms/${id}`)).body
    const listFields = [
      'id',
      'name',
      'hostname',
      'status',
      'vcpu',
      'ram',
      'disk',
      'storage',
      'dedicatedCpu',
      'bandwidth',
      'networkSpeed',
      'network10gEnabled',
      'dailyBackupEnabled',
      'isProtected',
      'publicIpv4',
      'ipAddress',
      'ipv6Address',
      'ipv6Prefix',
      'labels',
      'shelvedAt',
      'hostUnreachableSince',
      'region',
      'plan',
      'osTemplate',
      'billing',
      'createdAt',
    ]
    const fullFields = [
      'networkLimited',
      'bandwidthUsedBytes',
      'bandwidthPackBytes',
      'backupPolicy',
      'nextBackupAt',
      'copiesPriceMonthly',
      'sshKeys',
      'firewalls',
      'placementGroup',
      'privateNetworks',
      'reverseName',
      'reverseNameState',
      'reverseNameReason',
      'ipv6ReverseName',
      'ipv6ReverseNameState',
      'ipv6ReverseNameReason',
      'updatedAt',
    ]
    expect(Object.keys(vm).sort()).toEqual(
      [
        ...listFields,
        ...fullFields,
        'currentAction',
        'allowedActions',
        'readiness',
        'statusReason',
        'initialization',
        'rescue',
        'iso',
      ].sort(),
    )
    const { body } = await customer.get('/vms')
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 1, totalPages: 1 })
    expect(Object.keys(body.data[0]).sort()).toEqual(listFields.sort())
    expect(vm.region).toEqual({ slug: 'fra1', name: 'Frankfurt 1' })
    expect(vm.osTemplate).toEqual({ slug: 'debian-12', name: 'Debian 12', version: '12', arch: nativeArch() })
    expect(vm.billing).toMatchObject({ status: 'ACTIVE', priceMonthly: '6.00' })
    expect(vm.bandwidthPackBytes).toBe('0')
  })

  test('prices a custom configuration and its add-ons', async () => {
    const customer = await rich()
    const customConfig = { vcpu: 4, ram: 8192, disk: 80 }
    const body = { ...input, customConfig, dailyBackupEnabled: true, network10gEnabled: true }
    const quote = (await customer.post('/vms?dryRun=true', body)).body.data
    // 1.00 base + 4 × 2.00 + 8 × 2.00 + 8 × 0.50 = 29.00; + 20 % backups 5.80; + 10G 20.00
    expect(quote).toEqual({ charge: '54.80', monthly: '54.80', currency: 'USD', balanceAfter: '945.20' })
    expect(await balance(customer)).toBe('1000.00')
    expect((await customer.get('/vms')).body.data).toEqual([])
    const { data } = (await customer.post('/vms', body)).body
    expect(data.vm).toMatchObject({
      vcpu: 4,
      ram: 8192,
      disk: 80,
      networkSpeed: 10000,
      network10gEnabled: true,
      dailyBackupEnabled: true,
      plan: { slug: 'custom', name: 'Custom 4 vCPU / 8 GiB', priceMonthly: '29.00' },
      billing: { priceMonthly: '54.80' },
    })
    expect(await balance(customer)).toBe('945.20')
  })

  test('passes hostname, SSH keys and password hash to the guest, and stores the plain password nowhere', async () => {
    const customer = await rich()
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJbcnAx8ymHg5kq+7hZ2zzzzyyyyxxxxwwwwvvvvuuuu'
    const { data: key } = (await customer.post('/ssh-keys', { name: 'laptop', publicKey })).body
    const password = 'marker-7f3a9c-secret'
    const { id } = await app.given.vm(customer, { hostname: 'db-1', sshKeyIds: [key.id], password })
    const login = await app.simulated.drift.login(id)
    expect(login).toMatchObject({ hostname: 'db-1', user: 'root', sshKeys: [key.publicKey] })
    expect(login.passwordHash).toMatch(/^\$6\$/)
    expect((await customer.get(`/vms/${id}`)).body.data.sshKeys).toEqual([{ id: key.id, name: 'laptop', fingerprint: key.fingerprint }])
    expect((await customer.get(`/ssh-keys/${key.id}`)).body.data.vmCount).toBe(1)
    const tables = await app.db.many<{ name: string }>(sql`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`)
    for (const { name } of tables) {
      const { rows } = await app.db.raw(`select count(*)::int as hits from ${name} t where t::text like '%' || $1 || '%'`, [password])
      expect(rows, name).toEqual([{ hits: 0 }])
    }
  })

  test.each([
    [{ hostname: undefined }, 'hostname is required'],
    [{ hostname: '-web' }, 'hostname must be 1-63 letters, digits or hyphens'],
    [{ hostname: 'a'.repeat(64) }, 'hostname must be'],
    [{ name: '' }, 'name must be 1-100 characters'],
    [{ name: 'n'.repeat(101) }, 'name must be 1-100 characters'],
    [{ password: 'short' }, 'password must be 8-128 characters'],
    [{ sshKeyIds: Array.from({ length: 21 }, () => 'cabcdefgh1') }, 'sshKeyIds must hold at most 20 items'],
    [{ firewallIds: Array.from({ length: 11 }, () => 'cabcdefgh1') }, 'firewallIds must hold at most 10 items'],
    [{ privateNetworkIds: Array.from({ length: 6 }, () => 'cabcdefgh1') }, 'privateNetworkIds must hold at most 5 items'],
    [{ regionId: 'fra1' }, 'regionId must be an id'],
    [{ customConfig: { vcpu: 1, ram: 600, disk: 10 } }, 'customConfig.ram must be 512-262144 MiB in steps of 256'],
    [{ planId: 'cabcdefgh1', customConfig: { vcpu: 1, ram: 512, disk: 10 } }, 'give either planId or customConfig, not both'],
    [{ isProtected: 'yes' }, 'isProtected must be true or false'],
    [{ colour: 'red' }, 'colour is not a known field'],
  ])('rejects %j', async (change, sentence) => {
    const customer = await rich()
    const { status, body } = await customer.post('/vms', { ...input, ...change })
    expect(status).toBe(400)
    expect(body.error).toContain(sentence)
    expect(await balance(customer)).toBe('1000.00')
  })

  test.each([
    [{ regionId: 'cunknown12' }, 'Region not found'],
    [{ osTemplateId: 'cunknown12' }, 'OS template not found'],
    [{ planId: 'cunknown12' }, 'Plan not found'],
    [{ sshKeyIds: ['cunknown12'] }, 'SSH key not found'],
    [{ firewallIds: ['cunknown12'] }, 'Firewall not found'],
    [{ privateNetworkIds: ['cunknown12'] }, 'Network not found'],
  ])('answers 404 for %j', async (change, sentence) => {
    const { status, body } = await (await rich()).post('/vms', { ...input, ...change })
    expect({ status, error: body.error }).toEqual({ status: 404, error: sentence })
  })

  test('answers 402 with price and balance when the wallet is short', async () => {
    const customer = await app.given.customer({ credit: '3.50' })
    const { status, headers, body } = await customer.post('/vms', { ...input, planId: plan('medium') })
    expect(status).toBe(402)
    expect(headers['x-error-code']).toBe('insufficient_funds')
    expect(body.error).toBe('Insufficient wallet balance: 12.00 USD required, 3.50 USD available')
    expect((await customer.get('/vms')).body.pagination.total).toBe(0)
  })

  test('answers 422 at the quota and 503 without capacity, and changes nothing', async () => {
    const customer = await rich()
    for (let i = 0; i < 10; i++) expect((await customer.post('/vms', { ...input, planId: plan('nano') })).status).toBe(202)
    const { status, body } = await customer.post('/vms', { ...input, planId: plan('nano') })
    expect(status).toBe(422)
    expect(body.error).toContain('10 of 10 VMs are in use')
    expect(await balance(customer)).toBe('964.00')

    await app.db.run(sql`update hosts set maintenance = true`)
    const refused = await (await rich()).post('/vms', input)
    await app.db.run(sql`update hosts set maintenance = false`)
    expect(refused.status).toBe(503)
    expect(refused.body.error).toBe('No capacity in fra1 for 1 GiB RAM and 25 GiB disk: 1 host checked, 1 in maintenance. Try again later')
  })

  test('rejects a template that does not fit the plan', async () => {
    await app.db.run(sql`update os_templates set min_disk_gib = 40 where slug = 'tiny'`)
    const { data: template } = (await (await rich()).get('/os-templates/tiny')).body
    const { status, body } = await (await rich()).post('/vms', { ...input, osTemplateId: template.id })
    await app.db.run(sql`update os_templates set min_disk_gib = 1 where slug = 'tiny'`)
    expect(status).toBe(422)
    expect(body.error).toContain('needs at least 40 GiB disk')
  })

  test('compensates quota, capacity and charge when provisioning fails, and allows rebuild or delete afterwards', async () => {
    const customer = await rich()
    const before = await app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts`)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id, actionId } = await app.given.vm(customer)
    await app.simulated.faults.clear()
    const { data: action } = (await customer.get(`/vms/${id}/actions/${actionId}`)).body
    expect(action).toMatchObject({ status: 'FAILED' })
    const { data: vm } = (await customer.get(`/vms/${id}`)).body
    expect(vm).toMatchObject({ status: 'ERROR', ipAddress: null, statusReason: action.error, allowedActions: ['rebuild', 'delete'] })
    expect(await balance(customer)).toBe('1000.00')
    expect(await app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts`)).toEqual(before)

    expect((await customer.post(`/vms/${id}/start`)).status).toBe(409)
    expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId: input.osTemplateId })).status).toBe(202)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect(await balance(customer)).toBe('994.00')
  })

  test('replays the response for a repeated Idempotency-Key and creates one VM', async () => {
    const customer = await rich()
    const key = { 'idempotency-key': 'create-1' }
    const first = await customer.post('/vms', input, key)
    const second = await customer.post('/vms', input, key)
    expect(second.body).toEqual(first.body)
    expect(second.headers['location']).toBe(first.headers['location'])
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect((await customer.get('/vms')).body.pagination.total).toBe(1)
    expect(await balance(customer)).toBe('994.00')
  })
})
