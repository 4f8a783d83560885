import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
const customer = await app.given.customer({ credit: '10000.00' })
type Customer = typeof customer
const make = (labels: Record<string, string>, input: object = {}, of: Customer = customer) => app.given.vm(of, { labels, ...input })
const bulk = (body: object, query = '', headers: Record<string, string> = {}) => customer.post(`/vms/actions${query}`, body, headers)
const statusOf = async (id: string) => (await customer.get(`/vms/${id}`)).body.data?.status
const balance = async () => Number((await customer.get('/wallet')).body.data.balance)

test('starts one action for each VM with the labels, and names what refuses', async () => {
  const [b, a] = [await make({ set: 'one' }, { name: 'b' }), await make({ set: 'one' }, { name: 'a' })]
  const off = await make({ set: 'one', off: '' }, { name: 'c' })
  const other = await make({ set: 'other' })
  const strangers = await make({ set: 'one' }, {}, await app.given.customer({ credit: '100.00' }))
  await customer.post(`/vms/${off.id}/stop`, { force: true })
  await app.settle({ subjectId: off.id })
  const { status, body } = await bulk({ labelSelector: 'set=one', action: 'STOP', force: true })
  expect(status).toBe(202)
  const refusal = 'VM must be RUNNING to stop; it is STOPPED'
  expect(body.data).toEqual({
    vms: [
      { vmId: a.id, vmName: 'a', actionId: expect.any(String), errorCode: null, error: null },
      { vmId: b.id, vmName: 'b', actionId: expect.any(String), errorCode: null, error: null },
      { vmId: off.id, vmName: 'c', actionId: null, errorCode: 'invalid_state', error: refusal },
    ],
    started: 2,
    refused: 1,
  })
  await app.settle()
  expect(await Promise.all([a, b, off, other].map(({ id }) => statusOf(id)))).toEqual(['STOPPED', 'STOPPED', 'STOPPED', 'RUNNING'])
  expect(await app.db.one(sql`select status from vms where id = ${strangers.id}`)).toEqual({ status: 'RUNNING' })
  const action = (await customer.get(`/vms/${a.id}/actions/${body.data.vms[0].actionId}`)).body.data
  expect(action).toMatchObject({ action: 'STOP', status: 'COMPLETED' })

  expect((await bulk({ labelSelector: 'set=one', action: 'START' })).body.data).toMatchObject({ started: 3, refused: 0 })
  const busy = (await bulk({ labelSelector: 'set=one', action: 'RESTART' })).body.data
  expect(busy).toMatchObject({ started: 0, refused: 3, vms: [{ errorCode: 'busy', actionId: null }, {}, {}] })
  await app.settle()
  expect((await bulk({ labelSelector: 'set=one', action: 'RESTART' })).body.data).toMatchObject({ started: 3 })
  await app.settle()
})

test('a dry run says what it would be and changes nothing', async () => {
  const vms = [await make({ set: 'dry' }, { name: 'a' }), await make({ set: 'dry' }, { name: 'b', isProtected: true })]
  const before = await balance()
  const { status, body } = await bulk({ labelSelector: 'set=dry', action: 'DELETE' }, '?dryRun=true')
  expect(status).toBe(200)
  const single = (await customer.delete(`/vms/${vms[0]!.id}?dryRun=true`)).body.data
  expect(body.data).toMatchObject({ started: 1, refused: 1, charge: single.charge, balanceAfter: single.balanceAfter, currency: 'USD' })
  expect(body.data.vms).toEqual([
    { vmId: vms[0]!.id, vmName: 'a', errorCode: null, error: null, charge: single.charge },
    { vmId: vms[1]!.id, vmName: 'b', errorCode: 'protected', error: expect.any(String), charge: null },
  ])
  expect((await bulk({ labelSelector: 'set=dry', action: 'STOP' }, '?dryRun=true')).body.data).toMatchObject({ started: 2, charge: '0.00' })
  await app.settle()
  expect(await Promise.all(vms.map(({ id }) => statusOf(id)))).toEqual(['RUNNING', 'RUNNING'])
  expect(await balance()).toBe(before)
})

test('deletes those that are not protected, and refunds each', async () => {
  const [a, b, kept] = [await make({ set: 'del' }), await make({ set: 'del' }), await make({ set: 'del' }, { isProtected: true })]
  const quote = (await bulk({ labelSelector: 'set=del', action: 'DELETE' }, '?dryRun=true')).body.data
  expect((await bulk({ labelSelector: 'set=del', action: 'DELETE' })).body.data).toMatchObject({ started: 2, refused: 1 })
  await app.settle()
  expect(await Promise.all([a, b, kept].map(({ id }) => statusOf(id)))).toEqual([undefined, undefined, 'RUNNING'])
  expect((await balance()).toFixed(2)).toBe(quote.balanceAfter)
})

test('acts on the VMs with these ids alone, and names those that are not there', async () => {
  const [b, a, left] = [await make({}, { name: 'b' }), await make({}, { name: 'a' }), await make({}, { name: 'left' })]
  const strangers = await make({}, {}, await app.given.customer({ credit: '100.00' }))
  const vmIds = [b.id, strangers.id, a.id, 'cnobody99']
  const unknown = { vmName: '', errorCode: 'not_found', error: 'VM not found' }
  const quote = (await bulk({ vmIds, action: 'DELETE' }, '?dryRun=true')).body.data
  const single = (await customer.delete(`/vms/${a.id}?dryRun=true`)).body.data
  expect(quote).toMatchObject({ started: 2, refused: 2, charge: (2 * Number(single.charge)).toFixed(2) })
  expect(quote.vms).toEqual([
    ...[strangers.id, 'cnobody99'].toSorted().map((vmId) => ({ vmId, ...unknown, charge: null })),
    { vmId: a.id, vmName: 'a', errorCode: null, error: null, charge: single.charge },
    { vmId: b.id, vmName: 'b', errorCode: null, error: null, charge: single.charge },
  ])
  const { status, body } = await bulk({ vmIds, action: 'STOP', force: true })
  expect([status, body.data.started, body.data.refused]).toEqual([202, 2, 2])
  expect((await customer.get('/audit-log?limit=1')).body.data).toMatchObject([{ action: 'startBulkAction', resourceIds: [a.id, b.id] }])
  expect(body.data.vms.filter(({ vmName }: { vmName: string }) => vmName === '')).toEqual(
    [strangers.id, 'cnobody99'].toSorted().map((vmId) => ({ vmId, ...unknown, actionId: null })),
  )
  await app.settle()
  expect(await Promise.all([a, b, left].map(({ id }) => statusOf(id)))).toEqual(['STOPPED', 'STOPPED', 'RUNNING'])
  expect(await app.db.one(sql`select status from vms where id = ${strangers.id}`)).toEqual({ status: 'RUNNING' })
  const { token } = await app.given.token(customer.accountId, { scopes: ['vms:read', 'vms:power'] })
  const refused = await app.request('POST', '/vms/actions', { token, body: { vmIds: [a.id], action: 'DELETE' } })
  expect(refused.status).toBe(403)
})

test('takes snapshots by one name', async () => {
  const vms = [await make({ set: 'snap' }), await make({ set: 'snap' })]
  expect((await bulk({ labelSelector: 'set=snap', action: 'SNAPSHOT', name: 'nightly' })).body.data).toMatchObject({ started: 2 })
  await app.settle()
  for (const { id } of vms)
    expect((await customer.get(`/vms/${id}/snapshots`)).body.data).toMatchObject([{ name: 'nightly', status: 'AVAILABLE' }])
})

test('a repeated request with the same key acts once', async () => {
  const { id } = await make({ set: 'key' })
  const order = { labelSelector: 'set=key', action: 'STOP', force: true }
  const first = await bulk(order, '', { 'idempotency-key': 'one' })
  await app.settle()
  const again = await bulk(order, '', { 'idempotency-key': 'one' })
  expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', first.body])
  expect((await customer.get(`/vms/${id}/actions`)).body.data.filter((each: { action: string }) => each.action === 'STOP')).toHaveLength(1)
})

test('an empty choice is no error, too many VMs are', async () => {
  expect((await bulk({ labelSelector: 'set=none', action: 'STOP' })).body.data).toEqual({ vms: [], started: 0, refused: 0 })
  const { id } = await make({ set: 'many' })
  await app.db.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    await tx.run(sql`
      insert into vms select (jsonb_populate_record(v, jsonb_build_object('id', 'cmany' || n, 'uuid', gen_random_uuid(), 'host_id', null,
        'ip_address', null, 'ipv6_address', null, 'ipv6_prefix', null, 'mac', '02:01:00:00:00:' || lpad(to_hex(n), 2, '0')))).*
      from vms v, generate_series(1, 100) n where v.id = ${id}`)
  })
  const { status, body } = await bulk({ labelSelector: 'set=many', action: 'STOP' })
  expect([status, body.error]).toEqual([422, expect.stringMatching(/selects more than 100 VMs: give it more conditions/)])
  await app.db.run(sql`delete from vms where id like 'cmany%'`)
})

test.each([
  ['STOP', ['vms:read'], 'vms:power'],
  ['DELETE', ['vms:read', 'vms:power'], 'vms:delete'],
  ['SNAPSHOT', ['vms:read', 'vms:power', 'vms:delete'], 'snapshots:create'],
])('%s needs the scope of the single operation', async (action, scopes, missing) => {
  const { token } = await app.given.token(customer.accountId, { scopes })
  const body = { labelSelector: 'set=scopes', action, ...(action === 'SNAPSHOT' && { name: 'x' }) }
  const refused = await app.request('POST', '/vms/actions', { token, body })
  expect([refused.status, refused.body.error]).toEqual([403, `This token lacks the required scope: ${missing}`])
})

test.each([
  [{ action: 'STOP' }, /labelSelector or vmIds is required/],
  [{ labelSelector: 'a=b', vmIds: ['c12345678'], action: 'STOP' }, /either labelSelector or vmIds/],
  [{ vmIds: [], action: 'STOP' }, /vmIds/],
  [{ vmIds: 'c12345678', action: 'STOP' }, /vmIds/],
  [{ vmIds: ['c12345678', 'c12345678'], action: 'STOP' }, /vmIds/],
  [{ vmIds: ["c' or true --"], action: 'STOP' }, /vmIds/],
  [{ vmIds: [null], action: 'STOP' }, /vmIds/],
  [{ vmIds: Array.from({ length: 101 }, (_, i) => `c${10_000_000 + i}`), action: 'STOP' }, /vmIds/],
  [{ labelSelector: 'a=b', action: 'EXPLODE' }, /action/],
  [{ labelSelector: 'a=b', action: 'SNAPSHOT' }, /name is required for SNAPSHOT/],
  [{ labelSelector: 'a=b', action: 'STOP', name: 'x' }, /name is only for SNAPSHOT/],
  [{ labelSelector: 'a=b', action: 'START', force: true }, /force is only for STOP and RESTART/],
  [{ labelSelector: 'a b', action: 'STOP' }, /is not understood/],
])('refuses %j', async (body, sentence) => {
  const { status, body: answer } = await bulk(body)
  expect([status, answer.error]).toEqual([400, expect.stringMatching(sentence)])
})
