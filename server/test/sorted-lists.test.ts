// Lists that are sorted by the API: each by everything that it can be sorted by, up and down, and by cursor while something is deleted.
import { describe, expect, test } from 'vitest'
import { sql } from '../src/kernel/database/db.ts'
import { toCursor } from '../src/http/api/schema.ts'
import { testApp } from './harness.ts'
import { generateKey } from './openssh-keys.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
await app.db.run(sql`update address_pools set host_id = null`)
const customer = await app.given.customer({ credit: '100000.00' })
const { regionId } = await app.given.vmInput()

interface Item {
  id: string
  name: string
  createdAt: string
  billing: { priceMonthly: string } | null
  region: { name: string }
  size: string
  [field: string]: unknown
}

const NAMES = ['web', 'Backup', 'archive', 'db 100%', 'Web_2']
const make = async (path: string, bodyOf: (index: number) => object): Promise<Item[]> => {
  const made: Item[] = []
  for (const [index, name] of NAMES.entries()) {
    const { status, body } = await customer.post(path, { name, ...bodyOf(index) })
    expect(status, body.error).toBeLessThan(300)
    made.push(body.data.image ?? body.data)
    await app.settle()
    app.clock.advance('1h')
  }
  return made
}
const vm = await app.given.vm(customer)
const [firewall] = await make('/firewalls', () => ({}))
await customer.post(`/firewalls/${firewall!.id}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' })
await customer.post(`/firewalls/${firewall!.id}/bindings`, { vmId: vm.id })
await make('/ssh-keys', () => ({ publicKey: generateKey().line }))
await make('/volumes', (index) => ({ regionId, sizeGiB: [10, 9, 100, 9, 1][index] }))
await make('/networks', (index) => ({ nodeId: regionId, cidr: `10.${[10, 9, 100, 2, 1][index]}.0.0/24` }))
await make('/addresses', () => ({ regionId }))
await customer.post(`/vms/${vm.id}/stop`)
await app.settle()
await make('/images', () => ({ vmId: vm.id }))

const VALUES: Record<string, (item: Item) => string> = {
  name: ({ name }) => name.toLowerCase(),
  region: ({ region }) => region.name.toLowerCase(),
  priceMonthly: ({ billing }) => (billing?.priceMonthly ?? '').padStart(20, '0'),
  size: ({ size }) => size.padStart(20, '0'),
  address: ({ address }) => addressText(String(address)),
  cidr: ({ cidr }) => addressText(String(cidr)),
}
const addressText = (text: string): string =>
  text
    .split('/')[0]!
    .split('.')
    .map((part) => part.padStart(3, '0'))
    .join('.')
const valueOf = (field: string, item: Item): string =>
  VALUES[field]?.(item) ?? (typeof item[field] === 'number' ? String(item[field]).padStart(9, '0') : String(item[field]).toLowerCase())

const LISTS: [string, string[]][] = [
  ['/volumes', ['name', 'sizeGiB', 'region', 'status', 'priceMonthly']],
  ['/images', ['name', 'kind', 'status', 'size', 'priceMonthly']],
  ['/ssh-keys', ['name', 'type', 'vmCount']],
  ['/networks', ['name', 'cidr', 'region', 'attachmentCount']],
  ['/addresses', ['address', 'name', 'region', 'priceMonthly']],
  ['/firewalls', ['name', 'ruleCount', 'bindingCount']],
]

const read = async (path: string, query: string): Promise<Item[]> => {
  const { status, body } = await customer.get(`${path}?${query}`)
  expect(status, body.error).toBe(200)
  return body.data as Item[]
}

describe.each(LISTS)('GET %s', (path, fields) => {
  test.each([...fields, 'createdAt'])('is sorted by %s, and those of one value by age', async (field) => {
    const items = await read(path, 'limit=100')
    const collator = new Intl.Collator('en', { sensitivity: 'variant' })
    const expected = items
      .toSorted((a, b) => collator.compare(valueOf(field, a), valueOf(field, b)) || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id)
    for (const [sort, order] of [
      [field, expected],
      [`-${field}`, expected.toReversed()],
    ] as const) {
      expect((await read(path, `sort=${sort}`)).map(({ id }) => id)).toEqual(order)
      const found: string[] = []
      for (let cursor = ''; ;) {
        const { body } = await customer.get(`${path}?sort=${sort}&limit=2${cursor}`)
        found.push(...(body.data as Item[]).map(({ id }) => id))
        if (!body.nextCursor) break
        cursor = `&cursor=${body.nextCursor}`
      }
      expect(found).toEqual(order)
    }
  })

  test('has those with a part of the name, in upper or lower case', async () => {
    const names = async (name: string) => (await read(path, `sort=name&name=${encodeURIComponent(name)}`)).map((item) => item.name)
    expect(await names('WEB')).toEqual(['web', 'Web_2'])
    expect(await names('%')).toEqual(['db 100%'])
    expect(await names('_')).toEqual(['Web_2'])
    expect(await names('none')).toEqual([])
  })

  test('refuses another sort, and cursors that it did not return', async () => {
    const { operationId } = app.operations.find((each) => each.method === 'GET' && each.path === path)!
    const refusal = async (query: string) => (await customer.get(`${path}?${query}`)).status
    expect(await refusal('sort=secret')).toBe(400)
    for (const key of [['c12345678'], ['name', 'web'], ['-name', 'web', 'c12345678'], ['name', 'web', 'c12345678', 'more']])
      expect(await refusal(`sort=name&cursor=${toCursor(operationId, key)}`)).toBe(400)
    expect(await refusal(`sort=name&cursor=${toCursor(operationId, ['name', 'web', 'c12345678'])}`)).toBe(200)
    for (const field of fields.filter((each) => /Count|GiB|price|size|cidr|address/i.test(each)))
      for (const odd of ['', 'x', '1e3', '9'.repeat(19), "'"])
        expect(await refusal(`sort=${field}&cursor=${toCursor(operationId, [field, odd, 'c12345678'])}`)).toBe(400)
  })
})

test('volumes and images are filtered by their status', async () => {
  expect(await read('/volumes', 'status=ATTACHED')).toEqual([])
  expect(await read('/volumes', 'status=AVAILABLE')).toHaveLength(NAMES.length)
  expect(await read('/images', 'status=AVAILABLE&kind=DISK')).toHaveLength(NAMES.length)
  expect(await read('/images', 'status=FAILED')).toEqual([])
  expect(await read('/networks', `regionId=${regionId}`)).toHaveLength(NAMES.length)
  expect(await read('/networks', 'regionId=c12345678')).toEqual([])
})
