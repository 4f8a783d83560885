import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { parseSelector } from './service.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
const customer = await app.given.customer({ credit: '10000.00' })
const make = async (labels: Record<string, string>, of = customer) => (await app.given.vm(of, { labels })).id

describe('a selector', async () => {
  const web = await make({ env: 'prod', role: 'web' })
  const db = await make({ env: 'prod', role: 'db', 'example.com/Team': 'core' })
  const test1 = await make({ env: 'test', old: '' })
  const bare = await make({})
  await make({ env: 'prod', role: 'web' }, await app.given.customer({ credit: '100.00' }))
  const list = async (selector: string, query = '') => {
    const { status, body } = await customer.get(`/vms?labelSelector=${encodeURIComponent(selector)}${query}`)
    return status === 200 ? (body.data as { id: string }[]).map(({ id }) => id) : [status, body.error]
  }

  test.each([
    ['env=prod', [db, web]],
    ['env==prod', [db, web]],
    ['env = prod , role = web', [web]],
    ['env=prod,role!=db', [web]],
    ['role!=db', [bare, test1, web]],
    ['env', [test1, db, web]],
    ['!env', [bare]],
    ['! env', [bare]],
    ['env,!role', [test1]],
    ['old', [test1]],
    ['old=', [test1]],
    ['role in (web, db)', [db, web]],
    ['role in(web)', [web]],
    ['env notin (prod)', [bare, test1]],
    ['role in (web,db),role in (db,cache)', [db]],
    ['role in (web),role in (db)', []],
    ['env=prod,env=test', []],
    ['example.com/Team=core', [db]],
    ['example.com/team=core', []],
    ['env=prod,example.com/Team,role notin (web)', [db]],
    ['in=in', []],
  ])('%s', async (selector, expected) => {
    expect(await list(selector)).toEqual(expected)
    expect((await customer.get(`/vms?labelSelector=${encodeURIComponent(selector)}`)).body.pagination.total).toBe(expected.length)
  })

  test('combines with other filters, sorts and cursors', async () => {
    expect(await list('env', '&status=STOPPED')).toEqual([])
    expect(await list('env=prod', '&sort=createdAt')).toEqual([web, db])
    const { body } = await customer.get('/vms?labelSelector=env&limit=1')
    expect(await list('env', `&limit=1&cursor=${body.nextCursor}`)).toEqual([db])
  })

  test.each(['env is prod', 'env=a b', '=prod', 'env in ()x', 'env in (a', 'env,,role', 'env>1', "env='prod'", '-env', 'env in (a;b)'])(
    'refuses %s, and says what to write',
    async (selector) => {
      expect(await list(selector)).toEqual([
        400,
        expect.stringMatching(/labelSelector: ".*" is not understood. Write conditions such as env=prod/),
      ])
    },
  )

  test('refuses more conditions than anybody needs', async () => {
    expect(await list(Array.from({ length: 21 }, (_, i) => `k${i}`).join())).toEqual([400, expect.stringMatching(/at most 20 conditions/)])
    expect((await list('a'.repeat(1_001)))[0]).toBe(400)
  })

  test('is no way to the prototype of objects', () => {
    expect(parseSelector('constructor=a').equals).toEqual({ constructor: 'a' })
    expect(parseSelector('toString in (a)').oneOf).toEqual({ toString: ['a'] })
  })
})

describe('labels of a VM', () => {
  const labelsOf = async (id: string) => (await customer.get(`/vms/${id}`)).body.data.labels

  test('are in the full form, in lists and in events, and are replaced as a whole', async () => {
    const id = await make({ env: 'prod', tier: 'web' })
    expect(await labelsOf(id)).toEqual({ env: 'prod', tier: 'web' })
    const { body } = await customer.patch(`/vms/${id}`, { labels: { env: 'test' } })
    expect(body.data.labels).toEqual({ env: 'test' })
    expect((await customer.get('/vms?labelSelector=env=test,!old')).body.data).toMatchObject([{ id, labels: { env: 'test' } }])
    await customer.patch(`/vms/${id}`, { name: 'renamed' })
    expect(await labelsOf(id)).toEqual({ env: 'test' })
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    const events = await app.db.many<{ type: string; data: { vm: { labels: object } } }>(
      sql`select type, data from events where subject_id = ${id} order by number`,
    )
    expect(events.map(({ type, data }) => [type, data.vm.labels])).toEqual([
      ['vm.provisioning', { env: 'prod', tier: 'web' }],
      ['vm.created', { env: 'prod', tier: 'web' }],
      ['vm.started', { env: 'prod', tier: 'web' }],
      ['vm.stopped', { env: 'test' }],
    ])
    await customer.patch(`/vms/${id}`, { labels: {} })
    expect(await labelsOf(id)).toEqual({})
  })

  test('are 64 at most, and change nothing where one is wrong', async () => {
    const id = await make({ a: '1' })
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x'.repeat(63)]))
    for (const labels of [
      many(65),
      { 'k-': '' },
      { '': 'x' },
      { a: 'b c' },
      { a: 'x'.repeat(64) },
      { ['k'.repeat(64)]: '' },
      { a: 1 },
      { a: null },
    ]) {
      const { status, body } = await customer.patch(`/vms/${id}`, { labels })
      expect([status, body.error]).toEqual([400, expect.stringMatching(/labels/)])
    }
    expect(await labelsOf(id)).toEqual({ a: '1' })
    const most = { ...many(63), ['k'.repeat(63)]: 'https://example.com/a_b+c@1:2' }
    expect((await customer.patch(`/vms/${id}`, { labels: most })).body.data.labels).toEqual(most)
  })

  test.each([
    [{ 'a b': '' }, 'labels must have keys of 1-63 letters, digits, ".", "_", "/" and "-" that begin and end with a letter or digit'],
    [{ env: 'a b' }, 'labels.env must be 0-63 letters, digits, ".", "_", "/", ":", "@", "+" and "-"'],
    [Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, ''])), 'labels must be an object of at most 64 labels'],
    ['env=prod', 'labels must be an object of at most 64 labels'],
  ])('%j: %s', async (labels, sentence) => {
    const { status, body } = await customer.patch(`/vms/${(await customer.get('/vms')).body.data[0].id}`, { labels })
    expect([status, body.error]).toEqual([400, `Validation failed: ${sentence}`])
  })

  test('count for nothing in a dry run', async () => {
    const id = await make({ a: '1' })
    await customer.patch(`/vms/${id}?dryRun=true`, { labels: { b: '2' } })
    expect(await labelsOf(id)).toEqual({ a: '1' })
  })
})
