// Every list can be read by cursor: opaque, and stable while items are added and deleted.
import { describe, expect, test } from 'vitest'
import { testApp } from './harness.ts'
import { generateKey } from './openssh-keys.ts'
import { sql } from '../src/kernel/database/db.ts'
import { toCursor } from '../src/http/api/schema.ts'

const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
const customer = await app.given.customer({ credit: '10000.00' })
const { id: vmId } = await app.given.vm(customer)
const { id: webhookId } = (await customer.post('/webhooks', { url: 'http://127.0.0.1/hook', events: ['vm.started'] })).body.data
const { id: regionId } = await app.db.one<{ id: string }>(sql`select region_id as id from vms`)
const { id: volumeId } = (await customer.post('/volumes', { name: 'data', sizeGiB: 1, regionId })).body.data
const urlOf = (path: string): string =>
  path
    .replace(':vmId', vmId)
    .replace(':volumeId', volumeId)
    .replace(':id', path.startsWith('/webhooks') ? webhookId : vmId)

let serial = 0
const add = async (path: string, body: object): Promise<void> => {
  expect((await customer.post(path, body)).status).toBeLessThan(300)
}
const addFirewall = () => add('/firewalls', { name: `fw ${++serial}` })
const addKey = () => add('/ssh-keys', { name: `key ${++serial}`, publicKey: generateKey().line })
const addPack = () => add(`/vms/${vmId}/bandwidth/packs`, { gigabytes: 1 })

const LISTS: [path: string, addOne: () => Promise<void>][] = [
  ['/ssh-keys', addKey],
  ['/firewalls', addFirewall],
  ['/audit-log', addFirewall],
  ['/audit-log?action=createFirewall', addFirewall],
  ['/wallet/transactions', addPack],
  ['/wallet/transactions?type=BANDWIDTH_PACK', addPack],
  [`/vms/${vmId}/bandwidth/packs`, addPack],
  ['/webhooks', () => add('/webhooks', { url: 'http://127.0.0.1/hook', events: ['vm.started'] })],
  ['/tickets', () => add('/tickets', { subject: 'Help', body: 'Please' })],
  ['/wallet/deposits', () => add('/wallet/deposits', { amount: '5.00' })],
  ['/vms', async () => void (await app.given.vm(customer))],
  ['/vms?status=RUNNING', async () => void (await app.given.vm(customer))],
  ['/actions', async () => void (await app.given.vm(customer))],
]

const page = async (path: string, query: string) => {
  const { status, body } = await customer.get(`${path}${path.includes('?') ? '&' : '?'}${query}`)
  expect(status).toBe(200)
  return { ids: (body.data as { id: string }[]).map((item) => item.id), ...body }
}

test.each(LISTS)('%s is read once and in its order by cursor, although items are added meanwhile', async (path, addOne) => {
  for (let i = 0; i < 5; i++) await addOne()
  const before = await page(path, 'limit=100')
  const read: string[] = []
  for (let cursor = ''; ;) {
    const { ids, nextCursor, pagination } = await page(path, `limit=2${cursor && `&cursor=${cursor}`}`)
    expect(pagination).toEqual({ page: 1, limit: 2, total: expect.any(Number), totalPages: expect.any(Number) })
    read.push(...ids)
    if (!nextCursor) break
    expect(nextCursor).toMatch(/^[\w-]+$/)
    cursor = nextCursor
    if (read.length < 5) await addOne()
  }
  expect(read).toEqual(before.ids)
})

test('a cursor continues from a page, and skips nothing when items already read are deleted', async () => {
  const ids = (await page('/firewalls', 'limit=100')).ids
  const second = await page('/firewalls', 'limit=2&page=2')
  expect(second.ids).toEqual(ids.slice(2, 4))
  for (const id of ids.slice(0, 4)) await customer.delete(`/firewalls/${id}`)
  expect((await page('/firewalls', `limit=2&cursor=${second.nextCursor}`)).ids).toEqual(ids.slice(4, 6))
})

test('the last page has no cursor', async () => {
  const { pagination } = await page('/ssh-keys', 'limit=1')
  expect((await page('/ssh-keys', 'limit=100')).nextCursor).toBeNull()
  expect(await page('/ssh-keys', `limit=1&page=${pagination.total + 1}`)).toMatchObject({ data: [], nextCursor: null })
})

describe('a cursor of something else is refused', () => {
  const lists = app.operations.filter((operation) => operation.paged)

  test.each(lists.map((operation) => [operation.operationId, operation.path]))('by %s', async (operationId, path) => {
    const url = urlOf(path)
    const forged = [
      'x',
      toCursor('anotherList', ['c1']),
      toCursor(operationId, []),
      Buffer.from(JSON.stringify([operationId, 5])).toString('base64url'),
      Buffer.from(JSON.stringify([operationId, '\0'])).toString('base64url'),
      Buffer.from('{}').toString('base64url'),
    ]
    for (const cursor of forged) {
      const { status, body } = await customer.get(`${url}?cursor=${cursor}`)
      expect([status, body.error]).toEqual([400, 'Validation failed: cursor must be the nextCursor of this list, with the same sort'])
    }
    expect((await customer.get(`${url}?cursor=`)).status).toBe(400)
  })
})

const ODD = [
  '',
  '~',
  '2026',
  '-004800-01-01T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '0000-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '-1',
  '1e400',
  '99999999999999999999',
  '\u{10ffff}',
  "'",
]

/** The keys of all lists: by id, by time and id, by what the list is sorted by. */
const forge = (odd: string, sort: string): string[][] => [
  [odd],
  [odd, odd],
  [odd, 'x'],
  ['x', odd],
  [sort, odd, 'x'],
  [sort, odd, odd],
  [sort, 'x', odd, odd],
]

describe('a cursor with a forged key fails no list', () => {
  const lists = app.operations.filter((operation) => operation.paged).map((operation) => [operation.operationId, operation.path, ''])
  const sorts = app.operations.flatMap(({ operationId, path, query }) =>
    ((query?.['sort'] as { enum?: string[] } | undefined)?.enum ?? []).map((sort) => [operationId, path, sort]),
  )

  test.each([...lists, ...sorts])('%s of %s %s', async (operationId, path, sort) => {
    const url = urlOf(path!)
    const failed: string[][] = []
    for (const key of ODD.flatMap((odd) => forge(odd, sort!))) {
      const { status } = await customer.get(`${url}?cursor=${toCursor(operationId!, key)}${sort && `&sort=${sort}`}`)
      if (status !== 200 && status !== 400) failed.push([String(status), ...key])
    }
    expect(failed).toEqual([])
  })
})
