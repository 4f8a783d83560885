import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { generateKey, wire } from '../../../test/openssh-keys.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaUsed, setQuotaLimit } from '../accounts/service.ts'
import { forgetKeyUse, keysOf, noteKeyUse, requireKeys } from './service.ts'

const app = await testApp({ breaks: ['ssh_keys.owner'] })
type Customer = Awaited<ReturnType<typeof app.given.customer>>

let made = 0
/** A distinct valid key, without the cost of generating one. */
const publicKey = (): string => {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt32BE(++made)
  return `ssh-ed25519 ${wire('ssh-ed25519', bytes).toString('base64')}`
}

const addKey = async (customer: Customer, name = 'laptop') => (await customer.post('/ssh-keys', { name, publicKey: publicKey() })).body.data
const countOf = (answers: { status: number }[], status: number): number => answers.filter((each) => each.status === status).length

describe('POST /ssh-keys', () => {
  test('stores the key without its comment', async () => {
    const customer = await app.given.customer()
    const key = generateKey()
    const { status, body } = await customer.post('/ssh-keys', { name: 'laptop', publicKey: key.line })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      name: 'laptop',
      labels: {},
      type: 'ssh-ed25519',
      fingerprint: key.fingerprint,
      publicKey: key.line.split(' ').slice(0, 2).join(' '),
      vmCount: 0,
      createdAt: app.clock.now().toISOString(),
    })
    expect((await customer.get(`/ssh-keys/${body.data.id}`)).body.data).toEqual(body.data)
  })

  test('rejects an invalid key and stores nothing', async () => {
    const customer = await app.given.customer()
    const { status, headers, body } = await customer.post('/ssh-keys', { name: 'laptop', publicKey: '-----BEGIN OPENSSH PRIVATE KEY-----' })
    expect(status).toBe(400)
    expect(headers['x-error-code']).toBe('validation_failed')
    expect(body.error).toMatch(/^Validation failed: publicKey holds a private key/)
    expect((await customer.get('/ssh-keys')).body.pagination.total).toBe(0)
  })

  test.each([
    ['no name', { publicKey: publicKey() }, /name is required/],
    ['an empty name', { name: '', publicKey: publicKey() }, /name must be 1-100 characters/],
    ['a name of 101 characters', { name: 'x'.repeat(101), publicKey: publicKey() }, /name must be 1-100 characters/],
    ['no key', { name: 'laptop' }, /publicKey is required/],
    ['an unknown field', { name: 'laptop', publicKey: publicKey(), type: 'ssh-rsa' }, /type is not a known field/],
  ])('rejects %s', async (_, input, sentence) => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/ssh-keys', input)
    expect([status, body.error]).toEqual([400, expect.stringMatching(sentence)])
  })

  test('rejects a key that the account already has, under any name and comment', async () => {
    const customer = await app.given.customer()
    const key = publicKey()
    await customer.post('/ssh-keys', { name: 'one', publicKey: key })
    const { status, headers, body } = await customer.post('/ssh-keys', { name: 'two', publicKey: `${key} another comment` })
    expect([status, headers['x-error-code']]).toEqual([409, 'already_exists'])
    expect(body.error).toMatch(/^The key SHA256:\S+ is in this account already: use it, or delete it first$/)
    expect((await customer.get('/ssh-keys')).body.pagination.total).toBe(1)
  })

  test('accepts the same key in another account', async () => {
    const [one, two] = [await app.given.customer(), await app.given.customer()]
    const input = { name: 'shared', publicKey: publicKey() }
    expect((await one.post('/ssh-keys', input)).status).toBe(201)
    expect((await two.post('/ssh-keys', input)).status).toBe(201)
  })

  test('stores a key once under concurrency', async () => {
    const customer = await app.given.customer()
    const input = { name: 'race', publicKey: publicKey() }
    const answers = await Promise.all(Array.from({ length: 40 }, () => customer.post('/ssh-keys', input)))
    expect([countOf(answers, 201), countOf(answers, 409)]).toEqual([1, 39])
    expect((await customer.get('/ssh-keys')).body.pagination.total).toBe(1)
  })

  test('rejects the 51st key, and accepts one again after a deletion', async () => {
    const customer = await app.given.customer()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => customer.post('/ssh-keys', { name: 'many', publicKey: publicKey() })),
    )
    expect([countOf(answers, 201), countOf(answers, 422)]).toEqual([50, 10])
    const refused = answers.find((each) => each.status === 422)!
    expect(refused.headers['x-error-code']).toBe('quota_exceeded')
    expect(refused.body.error).toMatch(/^Quota exceeded: 50 of 50 SSH keys are in use/)
    await customer.delete(`/ssh-keys/${answers.find((each) => each.status === 201)!.body.data.id}`)
    expect((await customer.post('/ssh-keys', { name: 'again', publicKey: publicKey() })).status).toBe(201)
  })

  test('reports a duplicate key before the exceeded quota', async () => {
    const customer = await app.given.customer()
    const input = { name: 'only', publicKey: publicKey() }
    await customer.post('/ssh-keys', input)
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'ssh_keys', 1n))
    expect((await customer.post('/ssh-keys', input)).status).toBe(409)
    expect((await customer.post('/ssh-keys', { ...input, publicKey: publicKey() })).status).toBe(422)
  })

  test('has one effect per Idempotency-Key', async () => {
    const customer = await app.given.customer()
    const input = { name: 'laptop', publicKey: publicKey() }
    const first = await customer.post('/ssh-keys', input, { 'idempotency-key': 'once' })
    const again = await customer.post('/ssh-keys', input, { 'idempotency-key': 'once' })
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers['idempotent-replayed']).toBe('true')
  })
})

describe('GET /ssh-keys', () => {
  test('lists newest first and paginates', async () => {
    const customer = await app.given.customer()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await addKey(customer)).id)
    const newestFirst = ids.toSorted().toReversed()
    const page = async (number: number) => (await customer.get(`/ssh-keys?page=${number}&limit=2`)).body
    const pages = await Promise.all([1, 2, 3, 4].map(page))
    expect(pages.map(({ data }) => data.map((key: { id: string }) => key.id))).toEqual([
      newestFirst.slice(0, 2),
      newestFirst.slice(2, 4),
      newestFirst.slice(4),
      [],
    ])
    expect(pages[0]!.pagination).toEqual({ page: 1, limit: 2, total: 5, totalPages: 3 })
  })

  test("does not show other accounts' keys", async () => {
    await addKey(await app.given.customer())
    const { body } = await (await app.given.customer()).get('/ssh-keys')
    expect(body).toEqual({ success: true, data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 }, nextCursor: null })
  })

  test('accepts page numbers of any size', async () => {
    const customer = await app.given.customer()
    await addKey(customer)
    expect((await customer.get('/ssh-keys?page=9007199254740991&limit=100')).body.data).toEqual([])
  })
})

describe('PATCH /ssh-keys/{id}', () => {
  test('changes the name only', async () => {
    const customer = await app.given.customer()
    const key = await addKey(customer)
    const { status, body } = await customer.patch(`/ssh-keys/${key.id}`, { name: 'x'.repeat(100) })
    expect([status, body.data]).toEqual([200, { ...key, name: 'x'.repeat(100) }])
    expect((await customer.get(`/ssh-keys/${key.id}`)).body.data).toEqual(body.data)
  })

  test.each([[{}], [{ name: '' }], [{ name: 'x'.repeat(101) }], [{ name: null }], [{ name: 'a', publicKey: 'b' }]])(
    'rejects %j',
    async (input) => {
      const customer = await app.given.customer()
      const key = await addKey(customer)
      expect((await customer.patch(`/ssh-keys/${key.id}`, input)).status).toBe(400)
      expect((await customer.get(`/ssh-keys/${key.id}`)).body.data).toEqual(key)
    },
  )
})

describe('a key of another account', () => {
  test('answers 404 to read, rename and delete', async () => {
    const [owner, stranger] = [await app.given.customer(), await app.given.customer()]
    const key = await addKey(owner)
    for (const id of [key.id, newId()]) {
      for (const { status, body } of [
        await stranger.get(`/ssh-keys/${id}`),
        await stranger.patch(`/ssh-keys/${id}`, { name: 'mine' }),
        await stranger.delete(`/ssh-keys/${id}`),
      ])
        expect([status, body]).toEqual([404, { success: false, error: 'SSH key not found' }])
    }
    expect((await owner.get(`/ssh-keys/${key.id}`)).body.data).toEqual(key)
  })
})

describe('DELETE /ssh-keys/{id}', () => {
  test('deletes the key, even one that VMs were created with', async () => {
    const customer = await app.given.customer()
    const key = await addKey(customer)
    await app.db.tx((tx) => noteKeyUse(tx, newId(), [key.id]))
    const { status, body } = await customer.delete(`/ssh-keys/${key.id}`)
    expect([status, body.data]).toEqual([200, { id: key.id }])
    expect((await customer.get(`/ssh-keys/${key.id}`)).status).toBe(404)
    expect(await quotaUsed(app.db, customer.accountId, 'ssh_keys')).toBe(0n)
  })

  test('releases the quota once under concurrent deletes', async () => {
    const customer = await app.given.customer()
    const [key, other] = [await addKey(customer), await addKey(customer)]
    const answers = await Promise.all(Array.from({ length: 20 }, () => customer.delete(`/ssh-keys/${key.id}`)))
    expect([countOf(answers, 200), countOf(answers, 404)]).toEqual([1, 19])
    const { body } = await customer.get('/ssh-keys')
    expect([body.pagination.total, body.data]).toEqual([1, [other]])
  })

  test('keeps the count correct while the same key is added and deleted concurrently', async () => {
    const customer = await app.given.customer()
    const input = { name: 'back and forth', publicKey: publicKey() }
    const addAndDelete = async (): Promise<number[]> => {
      const added = await customer.post('/ssh-keys', input)
      if (added.status !== 201) return [added.status]
      return [201, (await customer.delete(`/ssh-keys/${added.body.data.id}`)).status]
    }
    const outcomes = await Promise.all(Array.from({ length: 20 }, addAndDelete))
    expect(outcomes.filter((each) => !['201,200', '409'].includes(String(each)))).toEqual([])
    expect((await customer.get('/ssh-keys')).body.pagination.total).toBe(0)
  })
})

describe('keys of a VM', () => {
  test('are counted by vmCount until they are cleared', async () => {
    const customer = await app.given.customer()
    const [key, other] = [await addKey(customer), await addKey(customer)]
    const [vm, secondVm] = [newId(), newId()]
    const vmCount = async (): Promise<number> => (await customer.get(`/ssh-keys/${key.id}`)).body.data.vmCount
    await app.db.tx(async (tx) => {
      await noteKeyUse(tx, vm, [key.id, other.id])
      await noteKeyUse(tx, vm, [key.id])
      await noteKeyUse(tx, secondVm, [key.id])
      await noteKeyUse(tx, newId(), [])
    })
    expect(await vmCount()).toBe(2)
    expect((await customer.patch(`/ssh-keys/${key.id}`, { name: 'renamed' })).body.data.vmCount).toBe(2)
    expect(new Set((await keysOf(app.db, vm)).map((row) => row.id))).toEqual(new Set([key.id, other.id]))
    await app.db.tx((tx) => forgetKeyUse(tx, vm))
    expect([await vmCount(), await keysOf(app.db, vm)]).toEqual([1, []])
  })

  test('are found in the given order, deduplicated', async () => {
    const customer = await app.given.customer()
    const [a, b, c] = [await addKey(customer), await addKey(customer), await addKey(customer)]
    const rows = await app.db.tx((tx) => requireKeys(tx, customer.accountId, [c.id, a.id, b.id, a.id]))
    expect(rows.map((row) => [row.id, row.public_key])).toEqual([c, a, b].map((key) => [key.id, key.publicKey]))
    expect(await app.db.tx((tx) => requireKeys(tx, customer.accountId, []))).toEqual([])
  })

  test("are rejected when one is unknown or another account's", async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    const [mine, theirs] = [await addKey(customer), await addKey(stranger)]
    for (const id of [newId(), theirs.id]) {
      const required = app.db.tx((tx) => requireKeys(tx, customer.accountId, [mine.id, id]))
      await expect(required).rejects.toMatchObject({ code: 'not_found', message: 'SSH key not found' })
    }
  })

  test('cannot be deleted between requireKeys and noteKeyUse', async () => {
    const customer = await app.given.customer()
    const key = await addKey(customer)
    const vm = newId()
    const order: string[] = []
    let deleting: Promise<unknown> | undefined
    await app.db.tx(async (tx) => {
      const [held] = await requireKeys(tx, customer.accountId, [key.id])
      deleting = customer.delete(`/ssh-keys/${key.id}`).then(() => order.push('deleted'))
      await expect.poll(waitingForLocks, { timeout: 10_000 }).toBe(1)
      await noteKeyUse(tx, vm, [held!.id])
      order.push('noted')
    })
    await deleting
    expect(order).toEqual(['noted', 'deleted'])
    expect(await keysOf(app.db, vm)).toEqual([])
  })
})

async function waitingForLocks(): Promise<number> {
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  return (await app.db.raw(waiting)).rows.length
}
