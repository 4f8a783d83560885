import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { sql } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { DryRunResult } from '../api/api.ts'
import { object, Type } from '../api/schema.ts'

const SOON = { timeout: 10_000 }

describe('a write with `prepare` outside of its transaction', async () => {
  const app = await testApp()
  await app.db.raw('create table calls (account_id text not null, answer text not null)')
  const state = { calls: 0, refused: false, failing: false, dryRun: false, gate: null as Promise<void> | null }
  const api = await throwawayApi(app, (routes) => {
    const data = object({ answer: Type.String() })
    const spec = { operationId: 'call', summary: '', tag: '', scope: null, data, dryRunData: data }
    const prepare = async (): Promise<string> => {
      const call = ++state.calls
      await state.gate
      if (state.failing) throw new Error('the line is dead')
      return `answer ${call}`
    }
    routes.post('/calls', { ...spec, prepare }, async (tx, { principal }, answer) => {
      await tx.run(sql`insert into calls values (${principal.accountId}, ${answer})`)
      if (state.refused) throw apiError('in_use', 'Not now')
      return state.dryRun ? new DryRunResult({ answer }) : { answer }
    })
  })
  const call = async (token: string, key?: string) => {
    const { status, text, headers } = await api.send('POST', `${PREFIX}/calls`, {
      token,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
    return { status, text, code: headers['x-error-code'], replayed: headers['idempotent-replayed'] }
  }
  const callsOf = async (accountId: string) => (await app.db.many(sql`select 1 from calls where account_id = ${accountId}`)).length

  test('passes the prepared value to the transaction', async () => {
    const { token, accountId } = await app.given.customer()
    expect(await call(token)).toMatchObject({ status: 200, text: expect.stringMatching(/"answer \d+"/) })
    expect(await callsOf(accountId)).toBe(1)
  })

  test('prepares once per key and replays the response', async () => {
    const { token } = await app.given.customer()
    const first = await call(token, 'k1')
    const { calls } = state
    expect(await call(token, 'k1')).toEqual({ ...first, replayed: 'true' })
    expect(state.calls).toBe(calls)
  })

  test('returns 409 for a concurrent request with the key, without holding a lock or connection', async () => {
    const { token } = await app.given.customer()
    const gate = Promise.withResolvers<void>()
    const before = state.calls
    state.gate = gate.promise
    const first = call(token, 'k2')
    await expect.poll(() => state.calls, SOON).toBe(before + 1)
    expect(await call(token, 'k2')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
    const { open } = await app.db.one<{ open: number }>(sql`
      select count(*)::int as open from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`)
    expect(open).toBe(0)
    gate.resolve()
    state.gate = null
    expect((await first).status).toBe(200)
    expect(state.calls).toBe(before + 1)
  })

  test.each(['failing', 'refused', 'dryRun'] as const)('releases the key when it was %s', async (how) => {
    const { token, accountId } = await app.given.customer()
    state[how] = true
    expect((await call(token, 'k3')).status).toBe({ failing: 500, refused: 409, dryRun: 200 }[how])
    state[how] = false
    expect(await callsOf(accountId)).toBe(0)
    expect(await call(token, 'k3')).toMatchObject({ status: 200, replayed: undefined })
  })

  test('releases the key a minute after its process died', async () => {
    const { token } = await app.given.customer()
    const before = state.calls
    state.gate = new Promise(() => {})
    void call(token, 'k4') // never resolves
    await expect.poll(() => state.calls, SOON).toBe(before + 1)
    state.gate = null
    app.clock.advance('59s')
    expect((await call(token, 'k4')).status).toBe(409)
    app.clock.advance('1s')
    expect(await call(token, 'k4')).toMatchObject({ status: 200, replayed: undefined })
  })
})
