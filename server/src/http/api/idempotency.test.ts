import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { sha256 } from '../../kernel/crypto.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { apiError } from '../../kernel/errors.ts'
import { ApiResponse, DryRunResult } from './api.ts'
import { deleteExpiredKeys, MAX_BYTES, MAX_KEYS, MAX_STORED_BYTES } from './idempotency.ts'
import { object, Type } from './schema.ts'

const about = { summary: 'A test', tag: 'Test', scope: null }
const Note = object({ id: Type.String(), text: Type.String() })
const NewNote = object({ text: Type.String(), secret: Type.Optional(Type.String()) })

describe('Idempotency-Key', async () => {
  const app = await testApp()
  await app.db.raw('create table notes (id text primary key, account_id text not null, text text not null)')
  let failing = false
  let hold: (() => Promise<void>) | null = null
  const api = await throwawayApi(app, (routes) => {
    const query = { dryRun: Type.Optional(Type.Boolean()) }
    routes.post(
      '/notes',
      { ...about, operationId: 'createNote', query, body: NewNote, status: 202, data: Note, dryRunData: Note },
      async (tx, context) => {
        const { principal, body } = context
        const note = { id: newId(), text: body.text }
        await tx.run(sql`insert into notes values (${note.id}, ${principal.accountId}, ${note.text})`)
        await hold?.()
        if (context.query.dryRun) return new DryRunResult(note)
        if (failing) throw apiError('no_capacity', 'There is no room')
        return new ApiResponse(note, 202, `/notes/${note.id}`)
      },
    )
    const params = { id: Type.String() }
    routes.delete(
      '/notes/:id',
      { ...about, operationId: 'deleteNote', params, data: object({ id: Type.String() }) },
      async (tx, { params }) => {
        if ((await tx.run(sql`delete from notes where id = ${params.id}`)) === 0) throw apiError('not_found', 'Note not found')
        return { id: params.id }
      },
    )
    routes.put(
      '/pages/:id',
      {
        ...about,
        operationId: 'writePage',
        params,
        body: object({ text: Type.String() }),
        data: Note,
        reread: async ({ params: { id } }) => {
          const note = await app.db.maybe<{ id: string; text: string }>(sql`select id, text from notes where id = ${id}`)
          if (!note) throw apiError('not_found', 'Note not found')
          return note
        },
      },
      async (tx, { principal, params: { id }, body }) => {
        await tx.run(sql`
          insert into notes values (${id}, ${principal.accountId}, ${body.text}) on conflict (id) do update set text = notes.text || excluded.text`)
        return tx.one<{ id: string; text: string }>(sql`select id, text from notes where id = ${id}`)
      },
    )
  })
  const write = async (token: string, key: string | undefined, body: object = { text: 'a' }, path = '/notes', method = 'POST') => {
    const { status, headers, text } = await api.send(method, `${PREFIX}${path}`, {
      token,
      ...((method === 'POST' || method === 'PUT') && { payload: body }),
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
    return { status, text, code: headers['x-error-code'], replayed: headers['idempotent-replayed'], location: headers['location'] }
  }
  const notesOf = async (accountId: string) => (await app.db.many(sql`select 1 from notes where account_id = ${accountId}`)).length

  test('replays the response of the same request byte for byte without a second effect', async () => {
    const { token, accountId } = await app.given.customer()
    const first = await write(token, 'k1')
    expect(first).toMatchObject({ status: 202, replayed: undefined })
    expect(first.location).toMatch(/^\/api\/public\/v1\/notes\/c/)
    for (let i = 0; i < 2; i++) expect(await write(token, 'k1')).toEqual({ ...first, replayed: 'true' })
    expect(await notesOf(accountId)).toBe(1)
  })

  test('is optional', async () => {
    const { token, accountId } = await app.given.customer()
    expect((await write(token, undefined)).text).not.toBe((await write(token, undefined)).text)
    expect(await notesOf(accountId)).toBe(2)
  })

  test('replays a delete of a deleted resource', async () => {
    const { token } = await app.given.customer()
    const { data } = JSON.parse((await write(token, undefined)).text) as { data: { id: string } }
    const remove = () => write(token, 'gone', undefined, `/notes/${data.id}`, 'DELETE')
    expect(await remove()).toMatchObject({ status: 200, replayed: undefined })
    expect(await remove()).toMatchObject({ status: 200, replayed: 'true' })
    expect((await write(token, undefined, undefined, `/notes/${data.id}`, 'DELETE')).status).toBe(404)
  })

  test.each([
    ['another body', { text: 'b' }, '/notes'],
    ['another query', { text: 'a' }, '/notes?dryRun=true'],
    ['another field', { text: 'a', secret: 'x' }, '/notes'],
  ])('is rejected for %s', async (_, body, path) => {
    const { token, accountId } = await app.given.customer()
    await write(token, 'k1')
    expect(await write(token, 'k1', body, path)).toMatchObject({ status: 422, code: 'idempotency_key_reused', replayed: undefined })
    expect(await notesOf(accountId)).toBe(1)
  })

  test('is rejected for another method or path', async () => {
    const { token } = await app.given.customer()
    await write(token, 'k1')
    expect(await write(token, 'k1', undefined, '/notes/c12345678', 'DELETE')).toMatchObject({ status: 422 })
  })

  test('belongs to the account, whichever of its tokens is used', async () => {
    const { token, accountId } = await app.given.customer()
    const stranger = await app.given.customer()
    const first = await write(token, 'k1')
    expect((await write((await app.given.token(accountId)).token, 'k1')).text).toBe(first.text)
    expect(await write(stranger.token, 'k1')).toMatchObject({ status: 202, replayed: undefined })
  })

  test('is not consumed by an error, so the same key can be retried', async () => {
    const { token, accountId } = await app.given.customer()
    failing = true
    for (let i = 0; i < 2; i++) expect(await write(token, 'k1')).toMatchObject({ status: 503, code: 'no_capacity', replayed: undefined })
    expect((await write(token, 'k1', { text: 5 })).status).toBe(400)
    failing = false
    expect(await notesOf(accountId)).toBe(0)
    expect(await write(token, 'k1')).toMatchObject({ status: 202, replayed: undefined })
  })

  test('is not consumed by a dry run', async () => {
    const { token, accountId } = await app.given.customer()
    expect(await write(token, 'k1', { text: 'a' }, '/notes?dryRun=true')).toMatchObject({ status: 200, location: undefined })
    expect(await notesOf(accountId)).toBe(0)
    expect(await write(token, 'k1')).toMatchObject({ status: 202, replayed: undefined })
  })

  test('expires after 24 hours', async () => {
    const { token, accountId } = await app.given.customer()
    const first = await write(token, 'k1')
    app.clock.advance('24h')
    app.clock.set(new Date(app.clock.now().getTime() - 1))
    expect((await write(token, 'k1')).text).toBe(first.text)
    app.clock.advance('1ms')
    expect(await write(token, 'k1')).toMatchObject({ status: 202, replayed: undefined })
    expect(await notesOf(accountId)).toBe(2)
    expect((await write(token, 'k1')).replayed).toBe('true')
    await deleteExpiredKeys(app.db, app.clock.now())
    expect((await write(token, 'k1')).replayed).toBe('true')
    app.clock.advance('24h')
    await deleteExpiredKeys(app.db, app.clock.now())
    expect(await app.db.many(sql`select 1 from idempotency_keys`)).toHaveLength(0)
  })

  test.each(['', 'a b', 'ключ', 'a\tb', 'x'.repeat(256)])('%j is not a key', async (key) => {
    const { token, accountId } = await app.given.customer()
    const answer = await write(token, key)
    expect(answer).toMatchObject({ status: 400, code: 'validation_failed' })
    expect(answer.text).toContain('Idempotency-Key must be 1-255 visible ASCII characters')
    expect(await notesOf(accountId)).toBe(0)
  })

  test.each(['!', 'x'.repeat(255), "~'; drop table notes; --".replaceAll(' ', '_')])('%j is a key', async (key) => {
    const { token } = await app.given.customer()
    expect((await write(token, key)).status).toBe(202)
    expect((await write(token, key)).replayed).toBe('true')
  })

  test('answers 409 while the first request is still running', async () => {
    const { token, accountId } = await app.given.customer()
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    hold = () => {
      reached.resolve()
      return released.promise
    }
    const running = write(token, 'k1')
    await reached.promise
    hold = null
    expect(await write(token, 'k1')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
    released.resolve()
    const first = await running
    expect(await write(token, 'k1')).toEqual({ ...first, replayed: 'true' })
    expect(await notesOf(accountId)).toBe(1)
  })

  test('has one effect among 400 concurrent requests; the others get 409 or the replay', async () => {
    const { token, accountId } = await app.given.customer()
    const answers = await Promise.all(Array.from({ length: 400 }, () => write(token, 'race')))
    expect(await notesOf(accountId)).toBe(1)
    const done = answers.filter(({ status }) => status === 202)
    expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
  })

  test('stores no plain response, password or guessable hash', async () => {
    const { token, accountId } = await app.given.customer()
    await write(token, 'k1', { text: 'marker-in-the-answer', secret: 'marker-in-the-request' })
    const [row] = await app.db.many<{ body: Buffer; fingerprint: Buffer }>(
      sql`select body, fingerprint from idempotency_keys where account_id = ${accountId}`,
    )
    expect(row!.body.toString('latin1')).not.toContain('marker')
    const plain = `POST\n${PREFIX}/notes\n${JSON.stringify({ text: 'marker-in-the-answer', secret: 'marker-in-the-request' })}`
    expect(row!.fingerprint.equals(sha256(plain))).toBe(false)
  })

  describe('of an account', () => {
    const stored = (accountId: string) =>
      app.db.one<{ keys: number; bytes: number }>(
        sql`select count(*)::int as keys, coalesce(sum(octet_length(body)), 0)::int as bytes from idempotency_keys where account_id = ${accountId}`,
      )
    const fill = (accountId: string, keys: number, bytes: number) =>
      app.db.run(sql`
        insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
        select ${accountId}, 'old-' || n, '', 200, convert_to(repeat('x', ${bytes}::int), 'UTF8'), ${app.clock.now()}, ${new Date(app.clock.now().getTime() + 3_600_000)}
        from generate_series(1, ${keys}::int) n`)
    const refused = { status: 422, code: 'too_many_idempotency_keys', replayed: undefined }

    test('are refused at their limit, and the write has no effect; replays and writes without a key go on', async () => {
      const { token, accountId } = await app.given.customer()
      const first = await write(token, 'k1')
      await fill(accountId, MAX_KEYS - 1, 0)
      for (let i = 0; i < 2; i++) expect(await write(token, `new-${i}`)).toMatchObject(refused)
      expect(await notesOf(accountId)).toBe(1)
      expect(await write(token, 'k1')).toEqual({ ...first, replayed: 'true' })
      expect((await write(token, undefined)).status).toBe(202)
      expect((await stored(accountId)).keys).toBe(MAX_KEYS)
      app.clock.advance('1h')
      await deleteExpiredKeys(app.db, app.clock.now())
      expect((await write(token, 'new-0')).status).toBe(202)
    })

    test('are refused when their responses take too many bytes', async () => {
      const { token, accountId } = await app.given.customer()
      await fill(accountId, 64, MAX_BYTES / 64)
      expect(await write(token, 'k1')).toMatchObject(refused)
      expect(await notesOf(accountId)).toBe(0)
      await app.db.run(sql`delete from idempotency_keys where account_id = ${accountId} and key = 'old-1'`)
      expect((await write(token, 'k1')).status).toBe(202)
      await app.db.run(sql`delete from idempotency_keys where account_id = ${accountId}`)
    })

    test('store no large response that can be read again; a repeat has no effect and returns what there is now', async () => {
      const { token, accountId } = await app.given.customer()
      const text = 'y'.repeat(MAX_STORED_BYTES)
      const put = (key: string, more = text) => write(token, key, { text: more }, '/pages/c12345678', 'PUT')
      const first = await put('large')
      expect(JSON.parse(first.text)).toEqual({ success: true, data: { id: 'c12345678', text } })
      expect((await stored(accountId)).bytes).toBeLessThan(100)
      expect(await put('large')).toEqual({ ...first, replayed: 'true' })
      await put('small', 'z')
      expect(JSON.parse((await put('large')).text)).toEqual({ success: true, data: { id: 'c12345678', text: `${text}z` } })
      await app.db.run(sql`delete from notes where id = 'c12345678'`)
      expect(await put('large')).toMatchObject({ status: 404, code: 'not_found' })
      expect(await notesOf(accountId)).toBe(0)
    })
  })
})
