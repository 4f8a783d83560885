import { describe, expect, test } from 'vitest'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { collect, eventEmitter } from './emit-events.ts'
import { Pages } from '../src/index.ts'
import { sdkFixture, recordAttempts, type SdkFixture } from './fixture.ts'

const app = await sdkFixture()

async function withKeys(count: number) {
  const customer = await app.given.customer()
  const { attempts, handlers } = recordAttempts()
  const plain = app.client(customer)
  const names = Array.from({ length: count }, (_, i) => `key ${i}`)
  for (const name of names) await plain.sshKeys.create({ name, publicKey: generateKey().line })
  return { customer, plain, names, attempts, berth: app.client(customer, { handlers }) }
}

type Client = ReturnType<SdkFixture['client']>
const addKey = (berth: Client, name: string) => berth.sshKeys.create({ name, publicKey: generateKey().line })

describe('a list', async () => {
  const { berth, names, attempts } = await withKeys(25)

  test('is iterated to its end, page by page', async () => {
    attempts.length = 0
    const seen: string[] = []
    for await (const { name } of berth.sshKeys.list({ limit: 10 })) seen.push(name)
    expect(seen.toSorted()).toEqual(names.toSorted())
    expect(attempts.map(({ path }) => path)).toEqual([
      '/ssh-keys?limit=10',
      expect.stringMatching(/^\/ssh-keys\?limit=10&cursor=[\w-]+$/),
      expect.stringMatching(/^\/ssh-keys\?limit=10&cursor=[\w-]+$/),
    ])
  })

  test('is fetched on demand, in pages of the maximum size', async () => {
    attempts.length = 0
    const list = berth.sshKeys.list()
    expect(attempts).toEqual([])
    expect(await list.all()).toHaveLength(25)
    expect(attempts.map(({ path }) => path)).toEqual(['/ssh-keys?limit=100'])
  })

  test('fetches no more pages than are read', async () => {
    attempts.length = 0
    for await (const _ of berth.sshKeys.list({ limit: 10 })) break
    expect(attempts).toHaveLength(1)
  })

  test('returns single pages', async () => {
    const { items, pagination } = await berth.sshKeys.list({ page: 3, limit: 10 }).page()
    expect(items).toHaveLength(5)
    expect(pagination).toEqual({ page: 3, limit: 10, total: 25, totalPages: 3 })
    expect((await berth.sshKeys.list().page()).pagination.limit).toBe(20)
    expect(await berth.sshKeys.list({ page: 2, limit: 10 }).all()).toHaveLength(15)
    expect((await berth.sshKeys.list({ page: 9 }).page()).items).toEqual([])
  })

  test('continues after the cursor of an earlier page', async () => {
    const { items, nextCursor } = await berth.sshKeys.list({ limit: 10 }).page()
    const rest = await berth.sshKeys.list({ limit: 10, cursor: nextCursor! }).all()
    expect([...items, ...rest].map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect((await berth.sshKeys.list().page({ limit: 5, cursor: nextCursor! })).items).toEqual(rest.slice(0, 5))
  })

  test('is iterated by page on a server without cursors', async () => {
    const pages = [1, 2, 3]
    const berth = new Pages<{ id: string }>({}, async ({ page = 1 }) => ({
      items: [{ id: String(page) }],
      pagination: { page, limit: 1, total: 3, totalPages: 3 },
      nextCursor: undefined as never,
    }))
    expect(await berth.all()).toEqual(pages.map((page) => ({ id: String(page) })))
  })

  test('keeps its filter on every page', async () => {
    attempts.length = 0
    await berth.actions.list({ status: 'FAILED', limit: 1 }).all()
    expect(attempts.map(({ path }) => path)).toEqual(['/actions?status=FAILED&limit=1'])
  })
})

describe('a list that changes during iteration', () => {
  test('skips nothing when items already read are deleted', async () => {
    const { berth, plain, names } = await withKeys(23)
    const seen: string[] = []
    for await (const { id, name } of berth.sshKeys.list({ limit: 5 })) {
      seen.push(name)
      await plain.sshKeys.delete(id)
    }
    expect(seen.toSorted()).toEqual(names.toSorted())
    expect(await berth.sshKeys.list().all()).toEqual([])
  })

  test('yields nothing twice when items are added', async () => {
    const { berth, plain, names } = await withKeys(12)
    const seen: string[] = []
    for await (const { name } of berth.sshKeys.list({ limit: 5 })) {
      seen.push(name)
      if (seen.length < 4) await addKey(plain, `new ${seen.length}`)
    }
    expect(seen).toEqual([...new Set(seen)])
    expect(seen).toEqual(expect.arrayContaining(names))
  })
})

describe('events', async () => {
  const customer = await app.given.customer()
  await eventEmitter(app, customer.accountId)(250)
  const { attempts, handlers } = recordAttempts()
  const berth = app.client(customer, { handlers })

  test('are iterated by cursor, up to now', async () => {
    const cursors: string[] = []
    for await (const { cursor } of berth.events.list()) cursors.push(cursor)
    expect(cursors).toEqual(Array.from({ length: 250 }, (_, i) => String(i + 1)))
    expect(attempts.map(({ path }) => path)).toEqual(['/events?limit=100', '/events?after=100&limit=100', '/events?after=200&limit=100'])
  })

  test('start after a cursor', async () => {
    const rest = await collect(berth.events.list({ after: '247', limit: 2 }))
    expect(rest.map(({ cursor }) => cursor)).toEqual(['248', '249', '250'])
    expect(await berth.events.page({ after: '250' })).toEqual([])
  })
})
