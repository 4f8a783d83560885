import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson, type Settings } from '../../../test/processes.ts'
import { manualProvider } from '../../features/payments/manual.ts'
import { beginDeposit, recordDeposit } from '../../features/payments/service.ts'
import { readConfig } from '../../config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openDb, sql, type Db } from '../../kernel/database/db.ts'
import type { Deps } from '../../features/deps.ts'

let settings: Settings
let db: Db
let accountId: string
const ACCOUNT = ['--account', 'ada@example.com']
const run = (...args: string[]) => berthd(settings, ...args)
const json = <T = Record<string, string>>(...args: string[]) => berthdJson<T>(settings, ...args)

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-payments-'))
  const url = await testDatabase()
  settings = { BERTH_DATABASE_URL: url, BERTH_DATA_DIR: dataDir }
  db = openDb({ url, maxConnections: 2, onError: () => {} })
  afterAll(() => Promise.all([db.close(), rm(dataDir, { recursive: true })]))
  accountId = (await json('account', 'create', '--email', 'ada@example.com'))['id']!
})

const announce = async (amount: string): Promise<string> => {
  const deps = { db, clock: systemClock, config: readConfig({}), payments: manualProvider('') } as unknown as Deps
  const begun = await beginDeposit(deps, accountId, amount)
  return (await db.tx((tx) => recordDeposit(tx, deps, accountId, begun))).id
}

describe('berthd account adjust', { timeout: 120_000 }, () => {
  test('credits and debits, never below zero, and keeps the reason', async () => {
    const adjust = (amount: string, reason = 'put right') => ['account', 'adjust', ...ACCOUNT, '--amount', amount, '--reason', reason]
    expect(await json(...adjust('20'))).toMatchObject({ amount: '20.00', balance: '20.00' })
    const { transactionId, ...rest } = await json(...adjust('-12.50', 'Credited twice'))
    expect(rest).toMatchObject({ amount: '-12.50', balance: '7.50' })
    const entry = await db.one(sql`
      select t.type, t.reference_type, o.reason, o.amount_cents from wallet_transactions t join wallet_adjustments o on o.id = t.reference_id
      where t.id = ${transactionId}`)
    expect(entry).toEqual({ type: 'ADJUSTMENT', reference_type: 'ADMIN', reason: 'Credited twice', amount_cents: -1_250n })
    const [tooMuch, nothing, silent] = await Promise.all([run(...adjust('-7.51')), run(...adjust('0')), run(...adjust('1', ' '))])
    expect([tooMuch.code, tooMuch.stderr]).toEqual([1, 'Insufficient wallet balance: 7.51 USD required, 7.50 USD available\n'])
    expect([nothing.code, nothing.stderr]).toEqual([1, 'Amount must not be 0.00\n'])
    expect([silent.code, silent.stderr]).toEqual([1, 'The reason must be 1-500 characters\n'])
    expect((await run('account', 'adjust', ...ACCOUNT, '--amount', '1')).code).toBe(2)
    expect(await db.one(sql`select count(*)::int as orders from wallet_adjustments`)).toEqual({ orders: 2 })
  })
})

describe('berthd payment', { timeout: 120_000 }, () => {
  test('lists deposits and confirms one once', async () => {
    const id = await announce('25')
    expect(await json<object[]>('payment', 'list', ...ACCOUNT)).toMatchObject([
      { id, account: 'ada@example.com', status: 'PENDING', amount: '25.00' },
    ])
    expect(await json('payment', 'confirm', id, '--amount', '24.00')).toMatchObject({ id, amount: '24.00' })
    const again = await run('payment', 'confirm', id)
    expect([again.code, again.stderr]).toEqual([1, `Payment ${id} is in the wallet already\n`])
    const unknown = await run('payment', 'confirm', 'cunknown1')
    expect([unknown.code, unknown.stderr]).toEqual([1, 'Payment cunknown1 not found\n'])
    expect((await run('payment', 'list', '--unrecovered')).stdout).toBe('No unrecovered payments\n')
    expect((await run('payment', 'list')).stdout).toContain('SUCCEEDED')
  })

  test('lists open deposits first, so that those of one customer hide no other', async () => {
    const id = await announce('30')
    const other = (await json('account', 'create', '--email', 'mallory@example.com'))['id']!
    await db.run(sql`
      insert into payments (id, account_id, provider, status, amount_cents, currency, created_at, updated_at)
      select 'czzz' || n, ${other}, 'manual', 'EXPIRED', 100, 'USD', now(), now() from generate_series(1, 1100) n`)
    const listed = await json<{ id: string; status: string }[]>('payment', 'list')
    expect([listed.length, listed[0]]).toEqual([1_000, expect.objectContaining({ id, status: 'PENDING' })])
  })
})
