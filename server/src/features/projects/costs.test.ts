import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { codeOf, projectFixture } from '../../../test/project-fixture.ts'
import { addDuration, manualClock } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { issueInvoices } from '../invoices/issue.reconciler.ts'

const app = await testApp()
const { company } = projectFixture(app)

describe('what a project costs', () => {
  test('is paid by its account, whose ledger names the project', async () => {
    const { payer, project } = await company()
    const { id } = await app.given.vm(project)
    const lines = (await payer.get('/wallet/transactions')).body.data as Record<string, unknown>[]
    expect(lines[0]).toMatchObject({
      type: 'VM_CHARGE',
      referenceId: id,
      project: { id: project.accountId, name: 'shop' },
      balanceAfter: expect.any(String),
    })
    expect(lines[1]).toMatchObject({ type: 'CREDIT', project: null })
    const own = (await project.get('/wallet/transactions')).body
    expect(own.data).toEqual([{ ...lines[0], balanceAfter: null }])
    expect(own.pagination.total).toBe(1)
    expect((await project.get('/wallet/transactions?type=CREDIT')).body.data).toEqual([])
    await payer.patch(`/projects/${project.accountId}`, { name: 'renamed' })
    await project.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    const names = ((await payer.get('/wallet/transactions')).body.data as { project: { name: string } | null }[]).map(
      ({ project: of }) => of?.name,
    )
    expect(names).toEqual(['renamed', 'shop', undefined])
    expect(await app.db.many(sql`select from wallets where account_id = ${project.accountId}`)).toEqual([])
  })

  test('is on the invoice of the account that pays, in its name', async () => {
    const { payer, project } = await company()
    await app.given.vm(project)
    await issueInvoices.runOnce({ ...app.deps, clock: manualClock(addDuration(app.clock.now(), '32d')) })
    const { id } = (await payer.get('/invoices')).body.data[0] as { id: string }
    const { customer, lines } = (await payer.get(`/invoices/${id}`)).body.data as {
      customer: { name: string }
      lines: { project: { name: string } | null }[]
    }
    expect([customer.name, lines.map((line) => line.project?.name)]).toEqual(['Secret Ltd', [undefined, 'shop']])
    expect(await app.db.many(sql`select from invoices where account_id = ${project.accountId}`)).toEqual([])
  })

  test('is refused where the wallet does not cover it, without a word of what it holds', async () => {
    const { payer, project } = await company('3.21')
    const order = await app.given.vmInput()
    const { status, headers, body } = await project.post('/vms', order)
    expect([status, headers['x-error-code'], body.error]).toEqual([
      402,
      'insufficient_funds',
      'Insufficient wallet balance of the account that pays for this project: 6.00 USD required',
    ])
    expect((await payer.post('/vms', order)).body.error).toContain('3.21 USD available')
  })

  test('is told by a dry run whether the wallet covers it or not, and the balance is not', async () => {
    for (const credit of ['3.21', '100.00']) {
      const { payer, project } = await company(credit)
      const order = await app.given.vmInput()
      expect((await project.post('/vms?dryRun=true', order)).body.data).toMatchObject({ charge: '6.00', balanceAfter: null })
      expect((await payer.get('/wallet')).body.data.balance).toBe(credit)
      expect(codeOf(await payer.post('/vms?dryRun=true', order))).toEqual(
        credit === '3.21' ? [402, 'insufficient_funds'] : [200, undefined],
      )
      const { id } = (await project.post('/volumes?dryRun=true', { name: 'v', regionId: order.regionId, sizeGiB: 10 })).body.data as {
        id?: string
      }
      expect(id).toBeUndefined()
    }
  })

  test('says nothing of the wallet to who is refused in any case', async () => {
    for (const credit of ['3.21', '100.00']) {
      const { project } = await company(credit)
      for (const budget of [{ maxVms: 0 }, { monthlyAmount: '0.00' }]) {
        const { secret } = (await project.post('/tokens', { name: 'x', scopes: ['*'], budget })).body.data as { secret: string }
        for (const query of ['?dryRun=true', '']) {
          const answer = await app.clientOf(secret).post(`/vms${query}`, await app.given.vmInput())
          expect([credit, query, ...codeOf(answer)]).toEqual([credit, query, 402, 'budget_exceeded'])
        }
      }
    }
  })

  test('is in the forecast of the account that pays', async () => {
    const { payer, project } = await company()
    await app.given.vm(project)
    await app.given.vm(payer)
    app.clock.advance('25d')
    expect((await payer.get('/wallet')).body.data).toMatchObject({ dueNext7Days: '12.00' })
  })

  test('is renewed from the wallet, and suspended and brought back with it', async () => {
    const { payer, project } = await company('6.00')
    const { id } = await app.given.vm(project)
    const billing = async () => {
      await app.reconcile()
      await app.settle({ subjectId: id })
      const { status, billing: of } = (await project.get(`/vms/${id}`)).body.data as { status: string; billing: { status: string } }
      return [status, of.status]
    }
    app.clock.advance('32d')
    expect(await billing()).toEqual(['RUNNING', 'PAST_DUE'])
    app.clock.advance('25h')
    expect(await billing()).toEqual(['SUSPENDED', 'SUSPENDED'])
    await app.db.tx(async (tx) => {
      const { creditByOperator } = await import('../wallet/adjustments.ts')
      await creditByOperator(tx, app.deps, { accountId: payer.accountId, amount: 5_000n, reason: 'x', currency: 'USD' })
    })
    expect(await billing()).toEqual(['RUNNING', 'ACTIVE'])
    const [{ project: of }] = (await payer.get('/wallet/transactions?type=VM_RENEWAL')).body.data as [{ project: { id: string } }]
    expect(of.id).toBe(project.accountId)
  })
})
