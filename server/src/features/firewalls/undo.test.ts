import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const accept = (port: string) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port })

const given = async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = (await customer.post('/firewalls', { name: 'web' })).body.data
  const ports = async (): Promise<string[]> =>
    (await customer.get(`/firewalls/${id}/rules`)).body.data.map(({ port }: { port: string }) => port)
  const replace = (wanted: string[], more = {}) => customer.put(`/firewalls/${id}/rules`, { rules: wanted.map(accept), ...more })
  const get = async () => (await customer.get(`/firewalls/${id}`)).body.data
  const undo = () => customer.post(`/firewalls/${id}/undo`)
  return { customer, id, ports, replace, get, undo }
}
const inMinutes = (minutes: number) => new Date(app.clock.now().getTime() + minutes * 60_000).toISOString()

describe('PUT /firewalls/{id}/rules based on a version', () => {
  test('lets one of two editors through, and the other read first', async () => {
    const { replace, ports, get } = await given()
    const { rulesVersion } = await get()
    expect((await replace(['22'], { basedOn: rulesVersion })).status).toBe(200)
    const late = await replace(['80'], { basedOn: rulesVersion })
    expect([late.status, late.headers['x-error-code']]).toEqual([409, 'version_conflict'])
    expect(await ports()).toEqual(['22'])
    expect((await replace(['80'], { basedOn: (await get()).rulesVersion })).status).toBe(200)
  })

  test('has another version for another order, and the same for the same rules', async () => {
    const { replace, get } = await given()
    const versionOf = async (...wanted: string[]) => {
      await replace(wanted)
      return (await get()).rulesVersion
    }
    const first = await versionOf('22', '80')
    expect(await versionOf('80', '22')).not.toBe(first)
    expect(await versionOf('22', '80')).toBe(first)
  })

  test('serializes editors of the same instant', async () => {
    const { replace, get } = await given()
    const { rulesVersion: basedOn } = await get()
    const answers = await Promise.all(['1', '2', '3', '4'].map((port) => replace([port], { basedOn })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
  })
})

describe('POST /firewalls/{id}/undo', () => {
  test('restores the rules before the latest change with their ids, on the hosts too', async () => {
    const { customer, id, replace, undo, get, ports } = await given()
    const vm = await app.given.vm(customer, { firewallIds: [id] })
    await replace(['22', '80'])
    const before = (await customer.get(`/firewalls/${id}/rules`)).body.data
    await replace([])
    expect((await get()).undoUntil).toBe(inMinutes(10))
    await app.reconcile()
    expect((await undo()).body.data).toEqual(before)
    expect(await ports()).toEqual(['22', '80'])
    expect((await get()).applied).toBe(false)
    await app.reconcile()
    expect(await get()).toMatchObject({ applied: true, undoUntil: null })
    const question = { vmId: vm.id, direction: 'IN', protocol: 'TCP', port: 22, address: '198.51.100.7' }
    expect((await customer.post(`/firewalls/${id}/check`, question)).body.data.action).toBe('ACCEPT')
  })

  test('undoes a rule that was added, changed, moved or deleted', async () => {
    const { customer, id, replace, undo, ports } = await given()
    await replace(['22', '80'])
    const [first] = (await customer.get(`/firewalls/${id}/rules`)).body.data
    const path = `/firewalls/${id}/rules`
    const changes = [
      () => customer.post(path, accept('443')),
      () => customer.patch(`${path}/${first.id}`, { port: '2222' }),
      () => customer.patch(`${path}/${first.id}`, { position: 2 }),
      () => customer.delete(`${path}/${first.id}`),
    ]
    for (const change of changes) {
      expect((await change()).status).toBeLessThan(300)
      expect(await ports()).not.toEqual(['22', '80'])
      expect((await undo()).status).toBe(200)
      expect(await ports()).toEqual(['22', '80'])
    }
  })

  test('is refused after ten minutes, twice, and where nothing was changed', async () => {
    const { replace, undo, ports } = await given()
    const refusal = async () => {
      const { status, headers } = await undo()
      return [status, headers['x-error-code']]
    }
    expect(await refusal()).toEqual([409, 'invalid_state'])
    await replace(['22'])
    expect((await undo()).status).toBe(200)
    expect(await refusal()).toEqual([409, 'invalid_state'])
    await replace(['22'])
    app.clock.advance('10m')
    expect(await refusal()).toEqual([409, 'invalid_state'])
    expect(await ports()).toEqual(['22'])
  })

  test('keeps nothing of a replacement by the same rules', async () => {
    const { replace, undo, ports } = await given()
    await replace(['22'])
    await replace(['22'])
    await undo()
    expect(await ports()).toEqual([])
  })

  test('is refused when a version of Berth that keeps nothing changed the rules since', async () => {
    const { id, replace, undo } = await given()
    await replace(['22'])
    await app.db.run(sql`update firewall_rules set port = '23' where firewall_id = ${id}`)
    expect((await undo()).headers['x-error-code']).toBe('version_conflict')
  })

  test("does not touch another account's firewall", async () => {
    const { id, replace } = await given()
    await replace(['22'])
    const other = await app.given.customer()
    expect((await other.post(`/firewalls/${id}/undo`)).status).toBe(404)
    expect((await other.post(`/firewalls/${id}/confirm`)).status).toBe(404)
  })
})

describe('rules that must be confirmed', () => {
  test('are undone by themselves, once, with an event', async () => {
    const { customer, id, replace, ports, get } = await given()
    await replace(['22'])
    await replace([], { confirmWithinSeconds: 60 })
    expect((await get()).confirmBy).toBe(inMinutes(1))
    await app.reconcile()
    expect(await ports()).toEqual([])
    app.clock.advance('1m')
    await Promise.all([app.reconcile(), app.reconcile()])
    expect(await ports()).toEqual(['22'])
    expect(await get()).toMatchObject({ confirmBy: null, undoUntil: null })
    const undone = (await customer.get('/events?limit=100')).body.data.filter(
      ({ type }: { type: string }) => type === 'firewall.rules_undone',
    )
    expect(undone.map(({ data }: { data: unknown }) => data)).toEqual([
      { firewall: { id, name: 'web' }, ruleCount: 1, rulesVersion: (await get()).rulesVersion, reason: 'UNCONFIRMED' },
    ])
  })

  test('stay when they are confirmed, and can still be undone', async () => {
    const { customer, id, replace, ports, undo } = await given()
    await replace(['22'], { confirmWithinSeconds: 60 })
    expect((await customer.post(`/firewalls/${id}/confirm`)).body.data).toMatchObject({ confirmBy: null, undoUntil: inMinutes(10) })
    expect((await customer.post(`/firewalls/${id}/confirm`)).status).toBe(409)
    app.clock.advance('2m')
    await app.reconcile()
    expect(await ports()).toEqual(['22'])
    await undo()
    expect(await ports()).toEqual([])
  })

  test('are undone with the changes that follow, until they are confirmed', async () => {
    const { customer, id, replace, ports, get } = await given()
    await replace(['22'])
    await replace(['80'], { confirmWithinSeconds: 60 })
    await customer.post(`/firewalls/${id}/rules`, accept('443'))
    expect((await get()).confirmBy).toBe(inMinutes(1))
    app.clock.advance('1m')
    await app.reconcile()
    expect(await ports()).toEqual(['22'])
  })

  test('are undone later when no worker was alive in time', async () => {
    const { replace, ports } = await given()
    await replace(['22'], { confirmWithinSeconds: 60 })
    app.clock.advance('3h')
    await app.reconcile()
    expect(await ports()).toEqual([])
  })
})

test('a draft is checked in place of the rules, among the other firewalls of the VM', async () => {
  const { customer, id, replace, ports } = await given()
  const other = (await customer.post('/firewalls', { name: 'other' })).body.data
  await customer.post(`/firewalls/${other.id}/rules`, accept('443'))
  const vm = await app.given.vm(customer, { firewallIds: [id, other.id] })
  await replace(['22'])
  const verdict = async (port: number, rules?: unknown[]) =>
    (
      await customer.post(`/firewalls/${id}/check`, {
        vmId: vm.id,
        direction: 'IN',
        protocol: 'TCP',
        port,
        address: '198.51.100.7',
        ...(rules && { rules }),
      })
    ).body.data
  expect(await verdict(22)).toMatchObject({ action: 'ACCEPT', decidedBy: 'RULE' })
  expect(await verdict(22, [])).toMatchObject({ action: 'DROP', decidedBy: 'DEFAULT' })
  expect(await verdict(443, [])).toMatchObject({ action: 'ACCEPT', firewallId: other.id })
  expect(await verdict(80, [accept('22'), accept('80')])).toMatchObject({ action: 'ACCEPT', firewallId: id, rule: { position: 2 } })
  expect(await ports()).toEqual(['22'])
})
