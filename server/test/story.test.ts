// The specification as a customer's story: each of its 21 operations over HTTP, in a realistic order.
import { describe, expect, test } from 'vitest'
import { generateKey } from './openssh-keys.ts'
import { receiver, verified } from './receiver.ts'
import { expectShape, PAGINATION, SPECIFIED, type Shape, type Specified } from './spec-operations.ts'
import { webhookApp } from './webhook-fixture.ts'

describe('a customer', async () => {
  const app = await webhookApp()
  const mailbox = await receiver()
  const customer = await app.given.customer({ credit: '100.00' })
  const told = new Set<Specified>()
  /** State shared between the chapters. */
  const known: Record<string, string> = {}

  /** Calls one of the 21 operations and validates its response against the specification; returns the data. */
  const ask = async (operation: Specified, params: Record<string, string> = {}, body?: unknown) => {
    told.add(operation)
    const { status, data, paged } = SPECIFIED[operation] as { status: number; data: Shape; paged?: true }
    const [method, template] = operation.split(' ') as [string, string]
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!)
    const answer = await app.request(method, path, { token: customer.token, body })
    expect([answer.status, answer.body.error], operation).toEqual([status, undefined])
    expectShape(
      answer.body,
      { success: 'boolean', data, ...(paged && { pagination: PAGINATION, nextCursor: 'string or null' }) },
      operation,
    )
    expect(answer.body.success).toBe(true)
    const location =
      status === 202 ? `/api/public/v1/vms/${known['vm'] ?? answer.body.data.vm.id}/actions/${answer.body.data.actionId}` : undefined
    expect(answer.headers['location']).toBe(location)
    return answer.body.data
  }
  /** Additional operations that the story needs. */
  const also = async (method: 'get' | 'post' | 'delete', path: string, body?: unknown) => {
    const answer = await (method === 'post' ? customer.post(path, body) : customer[method](path))
    expect(answer.status, answer.body.error).toBeLessThan(300)
    return answer.body.data
  }
  const action = async (actionId: string) => {
    await app.settle()
    return ask('GET /vms/{id}/actions/{actionId}', { id: known['vm']!, actionId })
  }
  const vm = () => ask('GET /vms/{id}', { id: known['vm']! })

  test('reads the catalog', async () => {
    const regions = await ask('GET /regions')
    expect(regions).toMatchObject([{ slug: 'fra1', country: 'DE', available: true }])
    const template = await ask('GET /os-templates/{slug}', { slug: 'debian-12' })
    expect(template).toMatchObject({ slug: 'debian-12', version: '12', defaultUser: 'root' })
    Object.assign(known, { region: regions[0].id, template: template.id })
    expect((await customer.get('/os-templates/no-such')).body).toEqual({ success: false, error: 'OS template not found' })
  })

  test('creates a webhook and tests it', async () => {
    const events = ['vm.created', 'vm.restarted', 'vm.terminated']
    const webhook = await ask('POST /webhooks', {}, { url: mailbox.url, events, description: 'my console' })
    expect(webhook).toMatchObject({ url: mailbox.url, events, isActive: true, failCount: 0, secret: expect.stringMatching(/^whsec_/) })
    Object.assign(known, { webhook: webhook.id, secret: webhook.secret })
    const { message } = await ask('POST /webhooks/{id}/test', { id: webhook.id })
    expect(message).toMatch(/200/)
    expect(verified(webhook.secret, mailbox.received[0]!)).toMatchObject({ type: 'webhook.test' })
  })

  test('prepares a key, a firewall and a private network', async () => {
    const key = await also('post', '/ssh-keys', { name: 'old name', publicKey: generateKey().line })
    expect(await ask('PATCH /ssh-keys/{id}', { id: key.id }, { name: 'laptop' })).toMatchObject({ name: 'laptop', vmCount: 0 })

    const firewall = await also('post', '/firewalls', { name: 'web' })
    await also('post', `/firewalls/${firewall.id}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '443' })
    expect(await ask('GET /firewalls/{id}/rules', { id: firewall.id })).toMatchObject([
      { position: 1, direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '443', sourceIps: [], destIps: [] },
    ])

    const network = await ask('POST /networks', {}, { name: 'backend', nodeId: known['region'], cidr: '10.8.0.0/24' })
    expect(network).toMatchObject({ cidr: '10.8.0.0/24', gateway: '10.8.0.1', enableSnat: true, enableDhcp: true, attachmentCount: 0 })
    Object.assign(known, { key: key.id, firewall: firewall.id, network: network.id })
  })

  test('creates a VM and waits until it runs', async () => {
    const { key, network, region, template } = known
    const wish = {
      regionId: region,
      osTemplateId: template,
      hostname: 'web-1',
      name: 'Shop',
      sshKeyIds: [key],
      privateNetworkIds: [network],
    }
    const { vm: created, actionId } = await ask('POST /vms', {}, { ...wish, password: 'correct horse' })
    known['vm'] = created.id
    expect(created).toMatchObject({
      name: 'Shop',
      hostname: 'web-1',
      status: 'PROVISIONING',
      currentAction: { action: 'CREATE', status: 'PENDING' },
    })
    expect(await action(actionId)).toMatchObject({ action: 'CREATE', status: 'COMPLETED', error: null, progress: 100 })
    expect(await vm()).toMatchObject({
      status: 'RUNNING',
      plan: { slug: 'small', priceMonthly: '6.00' },
      sshKeys: [{ id: key, name: 'laptop' }],
      privateNetworks: [{ id: network, name: 'backend' }],
      billing: { status: 'ACTIVE', priceMonthly: '6.00' },
    })
    expect(await ask('GET /vms')).toMatchObject([{ id: created.id, status: 'RUNNING' }])
  })

  test('binds the firewall', async () => {
    const bound = await ask('POST /firewalls/{id}/bindings', { id: known['firewall']! }, { vmId: known['vm'] })
    expect(bound).toEqual({ firewallId: known['firewall'], vmId: known['vm'] })
    expect(await vm()).toMatchObject({ firewalls: [{ id: known['firewall'], name: 'web' }] })
  })

  test('restarts and upgrades it', async () => {
    const restart = await ask('POST /vms/{id}/restart', { id: known['vm']! })
    expect(await action(restart.actionId)).toMatchObject({ action: 'RESTART', status: 'COMPLETED' })
    const plans = (await also('get', '/plans')) as { id: string; slug: string }[]
    const upgrade = await ask('POST /vms/{id}/upgrade', { id: known['vm']! }, { planId: plans.find(({ slug }) => slug === 'medium')!.id })
    expect(await vm()).toMatchObject({ status: 'UPGRADING', currentAction: { id: upgrade.actionId, action: 'UPGRADE' } })
    expect(await action(upgrade.actionId)).toMatchObject({ action: 'UPGRADE', status: 'COMPLETED' })
    expect(await vm()).toMatchObject({ status: 'RUNNING', vcpu: 2, ram: 2048, disk: 50, plan: { slug: 'medium', priceMonthly: '12.00' } })
  })

  test('reads its traffic and buys a pack', async () => {
    const [usage] = await ask('GET /bandwidth')
    expect(usage).toMatchObject({
      vmId: known['vm'],
      vmName: 'Shop',
      status: 'RUNNING',
      throttled: false,
      packBytes: '0',
      capBytes: '3000000000000',
    })
    await also('post', `/vms/${known['vm']}/bandwidth/packs`, { gigabytes: 1000 })
    expect(await ask('GET /vms/{vmId}/bandwidth/packs', { vmId: known['vm']! })).toMatchObject([
      { type: 'BANDWIDTH_PACK', referenceType: 'VM', referenceId: known['vm'], amount: '-10.00' },
    ])
    expect(await ask('GET /bandwidth')).toMatchObject([{ packBytes: '1000000000000', capBytes: '4000000000000' }])
  })

  test('creates a snapshot and deletes a backup', async () => {
    const { snapshot, actionId } = await ask('POST /vms/{vmId}/snapshots', { vmId: known['vm']! }, { name: 'before the sale' })
    expect(snapshot).toMatchObject({ vmId: known['vm'], name: 'before the sale', description: '', status: 'CREATING' })
    expect(await action(actionId)).toMatchObject({ action: 'SNAPSHOT_CREATE', status: 'COMPLETED' })
    const { backup } = await also('post', `/vms/${known['vm']}/backups`, { name: 'by hand' })
    await app.settle()
    await ask('DELETE /vms/{vmId}/backups/{id}', { vmId: known['vm']!, id: backup.id })
    await app.reconcile()
    expect(await also('get', `/vms/${known['vm']}/backups`)).toEqual([])
  })

  test('finds every charge in the ledger', async () => {
    const entries = await ask('GET /wallet/transactions')
    const types = entries.map(({ type, amount }: { type: string; amount: string }) => `${type} ${amount}`)
    expect(types).toEqual(['BANDWIDTH_PACK -10.00', 'VM_UPGRADE -6.00', 'VM_CHARGE -6.00', 'CREDIT 100.00'])
    expect(entries[0].balanceAfter).toBe('78.00')
  })

  test('deletes everything', async () => {
    const { actionId } = await also('delete', `/vms/${known['vm']}`)
    expect(await action(actionId)).toMatchObject({ action: 'DELETE', status: 'COMPLETED' })
    expect((await customer.get(`/vms/${known['vm']}`)).status).toBe(404)
    expect(await ask('DELETE /networks/{id}', { id: known['network']! })).toEqual({ id: known['network'] })
  })

  test('received all events and deletes the webhook', async () => {
    await app.deliver()
    const types = mailbox.received.map((each) => (verified(known['secret']!, each) as { type: string }).type)
    expect(types.toSorted()).toEqual(['vm.created', 'vm.restarted', 'vm.terminated', 'webhook.test'])
    expect(await ask('DELETE /webhooks/{id}', { id: known['webhook']! })).toEqual({ id: known['webhook'] })
  })

  test('has used every operation of the specification', () => {
    expect([...told].toSorted()).toEqual(Object.keys(SPECIFIED).toSorted())
    expect(told.size).toBe(21)
  })
})
