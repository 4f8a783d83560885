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
  const undo = (body?: object) => customer.post(`/firewalls/${id}/undo`, body)
  const confirm = (body?: object) => customer.post(`/firewalls/${id}/confirm`, body)
  const events = async (type: string): Promise<{ data: Record<string, unknown> }[]> =>
    (await customer.get('/events?limit=100')).body.data.filter((event: { type: string }) => event.type === type)
  return { customer, id, ports, replace, get, undo, confirm, events }
}
type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof given>>['undo']>>
const codeOf = ({ status, headers }: Answer) => [status, headers['x-error-code']]
const inMinutes = (minutes: number) => new Date(app.clock.now().getTime() + minutes * 60_000).toISOString()

describe('PUT /firewalls/{id}/rules based on a version', () => {
  test('lets one of two editors through, and the other read first', async () => {
    const { replace, ports, get } = await given()
    const { rulesVersion } = await get()
    expect((await replace(['22'], { basedOn: rulesVersion })).status).toBe(200)
    const late = await replace(['80'], { basedOn: rulesVersion })
    expect(codeOf(late)).toEqual([409, 'version_conflict'])
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
    const refusal = async () => codeOf(await undo())
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

describe('GET /firewalls/{id}/undo', () => {
  test('shows what an undo restores, with their ids', async () => {
    const { customer, id, replace, undo, get } = await given()
    const read = () => customer.get(`/firewalls/${id}/undo`)
    expect((await read()).status).toBe(404)
    await replace(['22', '80'])
    expect((await read()).body.data).toMatchObject({ rules: [], confirmBy: null })
    const before = (await customer.get(`/firewalls/${id}/rules`)).body.data
    const { rulesVersion: restoresVersion } = await get()
    await replace(['443'], { confirmWithinSeconds: 60 })
    const { rulesVersion, undoUntil, confirmBy } = await get()
    expect((await read()).body.data).toEqual({ rules: before, rulesVersion, restoresVersion, undoUntil, confirmBy })
    await undo({ basedOn: rulesVersion })
    expect((await read()).status).toBe(404)
    await replace(['443'])
    app.clock.advance('10m')
    expect((await read()).status).toBe(404)
  })
})

describe('a click on a page that is not up to date', () => {
  test("neither undoes nor confirms somebody else's change", async () => {
    const { replace, get, undo, confirm, ports } = await given()
    await replace(['22'])
    const { rulesVersion: basedOn } = await get()
    await replace(['80'], { confirmWithinSeconds: 60 })
    expect(codeOf(await undo({ basedOn }))).toEqual([409, 'version_conflict'])
    expect(codeOf(await confirm({ basedOn }))).toEqual([409, 'version_conflict'])
    expect((await get()).confirmBy).not.toBeNull()
    const { rulesVersion } = await get()
    expect((await confirm({ basedOn: rulesVersion })).status).toBe(200)
    expect((await undo({ basedOn: rulesVersion })).status).toBe(200)
    expect(codeOf(await undo({ basedOn: rulesVersion }))).toEqual([409, 'version_conflict'])
    expect(await ports()).toEqual(['22'])
  })
})

test('an undo that was looked at restores those rules or nothing', async () => {
  const { customer, id, replace, undo, ports } = await given()
  await replace(['22'])
  await replace(['80'])
  const { rulesVersion: basedOn, restoresVersion } = (await customer.get(`/firewalls/${id}/undo`)).body.data
  await replace([])
  await replace(['80'])
  expect(codeOf(await undo({ basedOn, restoresVersion }))).toEqual([409, 'version_conflict'])
  expect(await ports()).toEqual(['80'])
})

/** 480 lines. */
const LONG = ['10', '20', '30', '40', '50', '60', '70', '80']
const long = LONG.map((port) => ({ ...accept(port), sourceIps: addresses(10), destIps: addresses(6) }))
function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `198.51.100.${index + 1}`)
}

describe('an undo that nobody asked for', () => {
  test('keeps the room that the rules before had among those of a VM', async () => {
    const { customer, id, replace, ports } = await given()
    const vm = await app.given.vm(customer, { firewallIds: [id] })
    await customer.put(`/firewalls/${id}/rules`, { rules: long })
    await replace([], { confirmWithinSeconds: 60 })
    const bind = async () => {
      const other = (await customer.post('/firewalls', { name: 'other' })).body.data.id
      await customer.put(`/firewalls/${other}/rules`, { rules: long })
      return codeOf(await customer.post(`/firewalls/${other}/bindings`, { vmId: vm.id }))
    }
    expect(await bind()).toEqual([201, undefined])
    expect(await bind()).toEqual([422, 'quota_exceeded'])
    app.clock.advance('1m')
    await app.reconcile()
    expect(await ports()).toEqual(LONG)
  })

  test('happens although a version of Berth that knows nothing of it took the room, or changed the rules', async () => {
    const { customer, id, replace, ports, events } = await given()
    const vm = await app.given.vm(customer, { firewallIds: [id] })
    await customer.put(`/firewalls/${id}/rules`, { rules: long })
    await replace(['22'], { confirmWithinSeconds: 60 })
    const others = await Promise.all(
      ['b', 'c'].map(async (name) => {
        const other = (await customer.post('/firewalls', { name })).body.data.id
        await customer.put(`/firewalls/${other}/rules`, { rules: long })
        return other
      }),
    )
    for (const [index, other] of others.entries())
      await app.db.run(sql`
        insert into firewall_bindings (firewall_id, vm_id, account_id, position, created_at)
        select ${other}, ${vm.id}, account_id, ${index + 2}, ${app.clock.now()} from firewalls where id = ${other}`)
    await app.db.run(sql`update firewall_rules set port = '23' where firewall_id = ${id}`)
    app.clock.advance('1m')
    await app.reconcile()
    expect(await ports()).toEqual(LONG)
    expect((await events('firewall.rules_undone')).map(({ data }) => data['reason'])).toEqual(['UNCONFIRMED'])
  })

  test('that fails is tried again, later each time, and its first failure is an event', async () => {
    const { id, replace, ports, get, events } = await given()
    const other = await given()
    await replace(['22'])
    await replace([], { confirmWithinSeconds: 30 })
    await other.replace(['22'])
    await other.replace([], { confirmWithinSeconds: 31 })
    await app.db.run(sql`create sequence tries`)
    await app.db.run(sql`
      create function fail() returns trigger language plpgsql as $$ begin perform nextval('tries'); raise 'no'; end $$`)
    await app.db.raw(
      `create trigger fail before insert on firewall_rules for each row when (new.firewall_id = '${id}') execute function fail()`,
    )
    const tries = async () => (await app.db.one<{ count: bigint }>(sql`select last_value as count from tries where is_called`)).count
    app.clock.advance('31s')
    await Promise.all([app.reconcile(), app.reconcile()])
    expect(await ports()).toEqual([])
    expect(await other.ports()).toEqual(['22'])
    const { rulesVersion, confirmBy } = await get()
    expect(confirmBy).not.toBeNull()
    const [failed, ...more] = await events('firewall.undo_failed')
    expect(more).toEqual([])
    expect(failed!.data).toEqual({ firewall: { id, name: 'web' }, rulesVersion, reason: 'internal_error', nextTryAt: inMinutes(5 / 60) })
    const before = await tries()
    for (let second = 0; second < 120; second += 5) {
      app.clock.advance('5s')
      await app.reconcile()
    }
    // After 5, 15, 35 and 75 seconds.
    expect((await tries()) - before).toBe(4n)
    await app.db.run(sql`drop trigger fail on firewall_rules`)
    app.clock.advance('5m')
    await app.reconcile()
    expect(await ports()).toEqual(['22'])
    expect(await events('firewall.undo_failed')).toHaveLength(1)
    expect(await get()).toMatchObject({ confirmBy: null, undoUntil: null })
  })

  test('restores what only another version of Berth knows of a rule', async () => {
    const { id, replace } = await given()
    await app.db.run(sql`alter table firewall_rules add column later text not null default 'unknown'`)
    const known = () => app.db.many<{ later: string }>(sql`select later from firewall_rules where firewall_id = ${id}`)
    await replace(['22'])
    await app.db.run(sql`update firewall_rules set later = 'kept' where firewall_id = ${id}`)
    await replace(['80'], { confirmWithinSeconds: 60 })
    expect(await known()).toEqual([{ later: 'unknown' }])
    app.clock.advance('1m')
    await app.reconcile()
    expect(await known()).toEqual([{ later: 'kept' }])
    await app.db.run(sql`alter table firewall_rules drop column later`)
  })
})

describe('rules that must be confirmed', () => {
  test('are undone by themselves, once, with an event', async () => {
    const { id, replace, ports, get, events } = await given()
    await replace(['22'])
    await replace([], { confirmWithinSeconds: 60 })
    expect((await get()).confirmBy).toBe(inMinutes(1))
    await app.reconcile()
    expect(await ports()).toEqual([])
    app.clock.advance('1m')
    await Promise.all([app.reconcile(), app.reconcile()])
    expect(await ports()).toEqual(['22'])
    expect(await get()).toMatchObject({ confirmBy: null, undoUntil: null })
    expect((await events('firewall.rules_undone')).map(({ data }) => data)).toEqual([
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

  test('are the only change until they are confirmed or undone, so that an undo goes back by one', async () => {
    const { customer, id, replace, ports, get, undo, confirm } = await given()
    await replace(['22'])
    const [first] = (await customer.get(`/firewalls/${id}/rules`)).body.data
    await replace(['22', '80'], { confirmWithinSeconds: 60 })
    const path = `/firewalls/${id}/rules`
    const refused = [
      await customer.post(path, accept('443')),
      await customer.patch(`${path}/${first.id}`, { port: '2222' }),
      await customer.delete(`${path}/${first.id}`),
      await replace([], { basedOn: (await get()).rulesVersion }),
      await replace([], { confirmWithinSeconds: 60 }),
    ]
    expect(refused.map(codeOf)).toEqual(refused.map(() => [409, 'invalid_state']))
    await confirm()
    await customer.post(path, accept('443'))
    await undo()
    expect(await ports()).toEqual(['22', '80'])
  })

  test('wait for the hosts, and say for how many VMs', async () => {
    const { customer, id, replace, get, confirm } = await given()
    await app.given.vm(customer, { firewallIds: [id] })
    await replace(['22'], { confirmWithinSeconds: 60 })
    expect(await get()).toMatchObject({ applied: false, pendingCount: 1 })
    expect((await confirm()).body.data).toMatchObject({ applied: false, pendingCount: 1, confirmBy: null })
    await app.reconcile()
    expect(await get()).toMatchObject({ applied: true, pendingCount: 0 })
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
