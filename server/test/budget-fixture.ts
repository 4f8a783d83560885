// Customers with money, and what spends it within budgets.
import { expect } from 'vitest'
import { sql } from '../src/kernel/database/db.ts'
import { fingerprint } from './fingerprint.ts'
import type { Answer, TestApp } from './harness.ts'
import { allowManyVms } from './snapshot-backup-fixture.ts'

export const money = (cents: bigint): string => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
export const refusal = ({ status, headers, body }: Answer) => [status, headers['x-error-code'], body.error]
export const told = ({ headers }: Answer) => [headers['x-budget-remaining'], headers['x-budget-vms-remaining']]

type Customer = Awaited<ReturnType<TestApp['given']['customer']>>
export type Client = Pick<Customer, 'get' | 'post' | 'patch' | 'delete'>
export type Program = Client & { id: string; secret: string }

export async function budgetFixture(app: TestApp) {
  await allowManyVms(app)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  app.clock.set(new Date('2027-03-02T10:00:00Z'))
  const input = await app.given.vmInput()
  const plans = await app.db.many<{ id: string; slug: string; price_cents: bigint }>(
    sql`select id, slug, price_cents from plans order by price_cents`,
  )
  const [small, medium] = [plans.find(({ slug }) => slug === 'small')!, plans.find(({ slug }) => slug === 'medium')!]

  const rich = () => app.given.customer({ credit: '100000.00' })

  /** A token with this budget, made by another. */
  async function spender(by: Client, budget: object | undefined, more: object = {}): Promise<Program> {
    const { status, body } = await by.post('/tokens', { name: 'ci', scopes: ['*'], ...(budget && { budget }), ...more })
    if (status !== 201) throw new Error(`${status}: ${body.error}`)
    return { ...app.clientOf(body.data.secret as string), id: body.data.id as string, secret: body.data.secret as string }
  }

  const create = (by: Pick<Client, 'post'>, more: object = {}, query = '') =>
    by.post(`/vms${query}`, { ...input, planId: small.id, ...more })

  async function created(by: Pick<Client, 'post'>, more: object = {}): Promise<string> {
    const { status, body } = await create(by, more)
    if (status !== 202) throw new Error(`${status}: ${body.error}`)
    const id = body.data.vm.id as string
    await app.settle({ subjectId: id })
    return id
  }

  /** Refused as a dry run and for real, without effect. */
  async function refused(ask: (query: string) => Promise<Answer>): Promise<string> {
    const before = await fingerprint(app.db)
    const answers = [await ask('?dryRun=true'), await ask('')]
    expect(answers.map(refusal)).toEqual(answers.map(() => [402, 'budget_exceeded', answers[0]!.body.error]))
    expect(await fingerprint(app.db)).toEqual(before)
    return answers[0]!.body.error
  }

  const spent = async ({ accountId }: { accountId: string }): Promise<bigint> =>
    100_000_00n -
    (await app.db.one<{ cents: bigint }>(sql`select balance_cents as cents from wallets where account_id = ${accountId}`)).cents

  const budgetOf = async (by: Pick<Client, 'get'>, { id }: { id: string }) =>
    (await by.get(`/tokens/${id}`)).body.data.budget as Record<string, unknown>

  return { input, price: small.price_cents, small, medium, rich, spender, create, created, refused, spent, budgetOf }
}
