import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { givenBrowser } from '../../../test/browser.ts'
import { fingerprint } from '../../../test/fingerprint.ts'
import { testApp, type Answer } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { unmanage } from './service.ts'

describe('a dry run', async () => {
  const app = await testApp()
  const { vm, turn, toRenewal, balance } = await billingFixture(app)
  const rich = () => app.given.customer({ credit: '100.00' })
  type Customer = Awaited<ReturnType<typeof rich>>
  const { osTemplateId } = await app.given.vmInput()
  const seen = ({ status, headers, body }: Answer) => [status, headers['x-error-code'] ?? body.data]

  /** Returns the response of a dry run after checking that the database did not change. */
  const rehearse = async (ask: () => Promise<Answer>) => {
    const before = await fingerprint(app.db)
    const answer = seen(await ask())
    expect(await fingerprint(app.db)).toEqual(before)
    await app.settle()
    expect(await fingerprint(app.db)).toEqual(before)
    await app.checkInvariants()
    return answer
  }
  const rehearseDelete = (customer: Customer, id: string) => rehearse(() => customer.delete(`/vms/${id}?dryRun=true`))
  const rehearseRebuild = (customer: Customer, id: string, body: object = { osTemplateId }) =>
    rehearse(() => customer.post(`/vms/${id}/rebuild?dryRun=true`, body))
  const neverUp = async (customer: Customer, input = {}) => {
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer, input)
    await app.simulated.faults.clear()
    expect((await vm(customer, id)).status).toBe('ERROR')
    return id
  }

  describe('of delete', () => {
    test('quotes the refund that the delete then pays', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
      app.clock.advance('100h')
      const [status, quote] = await rehearseDelete(customer, id)
      expect([status, quote]).toEqual([
        200,
        { charge: expect.stringMatching(/^-\d\.\d\d$/), monthly: '0.00', currency: 'USD', balanceAfter: expect.any(String) },
      ])
      expect((await vm(customer, id)).status).toBe('RUNNING')
      await customer.delete(`/vms/${id}`)
      await app.settle()
      expect(await balance(customer)).toBe(quote.balanceAfter)
      const [refund] = (await customer.get('/wallet/transactions?type=VM_REFUND')).body.data
      expect(refund).toMatchObject({ amount: quote.charge.slice(1), referenceId: id })
    })

    test('quotes no refund where a delete pays none', async () => {
      const nothing = (balanceAfter: string) => [200, { charge: '0.00', monthly: '0.00', currency: 'USD', balanceAfter }]
      const customer = await rich()
      const failed = await neverUp(customer)
      expect(await rehearseDelete(customer, failed)).toEqual(nothing('100.00'))

      const { id } = await app.given.vm(customer)
      const setRefunds = (on: number) => app.db.run(sql`update catalog_values set value = ${on} where name = 'setting.refund_unused_days'`)
      await setRefunds(0)
      expect(await rehearseDelete(customer, id)).toEqual(nothing('94.00'))
      await setRefunds(1)

      const poor = await app.given.customer({ credit: '6.00' })
      const unpaid = await app.given.vm(poor)
      await toRenewal(poor, unpaid.id)
      await turn()
      expect((await vm(poor, unpaid.id)).billing.status).toBe('PAST_DUE')
      expect(await rehearseDelete(poor, unpaid.id)).toEqual(nothing('0.00'))
    })

    test('is rejected whenever a delete is', async () => {
      const [customer, other] = [await rich(), await rich()]
      const { id } = await app.given.vm(customer, { isProtected: true })
      expect(await rehearseDelete(customer, id)).toEqual([409, 'protected'])
      expect(await rehearseDelete(other, id)).toEqual([404, 'not_found'])
      const reader = await app.given.token(customer.accountId, { scopes: ['vms:read'] })
      expect(seen(await reader.delete(`/vms/${id}?dryRun=true`))).toEqual([403, 'missing_scope'])
      await customer.post(`/vms/${id}/stop`)
      expect(seen(await customer.delete(`/vms/${id}?dryRun=true`))).toEqual([409, 'busy'])
      await app.settle()
    })

    test('does not preempt a daily backup', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const { actionId } = (await customer.post(`/vms/${id}/backups`, { name: 'nightly' })).body.data
      await app.db.run(sql`update workflow_runs set input = input || '{"daily": true}' where id = ${actionId}`)
      expect(seen(await customer.delete(`/vms/${id}?dryRun=true`))[0]).toBe(200)
      await app.settle()
      expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.status).toBe('COMPLETED')
    })

    test('needs no re-authentication, although the delete itself does', async () => {
      const browser = await givenBrowser(app)
      app.clock.advance('1h')
      const code = async (query: string) => (await browser.delete(`/v1/vms/cunknown1${query}`)).headers['x-error-code']
      expect(await code('')).toBe('reauthentication_required')
      expect(await code('?dryRun=false')).toBe('reauthentication_required')
      expect(await code('?dryRun=true')).toBe('not_found')
    })
  })

  describe('of rebuild', () => {
    test('costs nothing for a provisioned VM', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
      await app.simulated.drift.writeFile(id, 'notes', 'keep me')
      expect(await rehearseRebuild(customer, id, { osTemplateId, password: 'a-new-password', sshKeyIds: [] })).toEqual([
        200,
        { charge: '0.00', monthly: (await vm(customer, id)).billing.priceMonthly, currency: 'USD', balanceAfter: await balance(customer) },
      ])
      expect(await app.simulated.drift.readFile(id, 'notes')).toBe('keep me')
    })

    test('quotes the price of a VM that failed to provision, and the rebuild charges it', async () => {
      const customer = await rich()
      const id = await neverUp(customer, { dailyBackupEnabled: true })
      const [status, quote] = await rehearseRebuild(customer, id)
      const price: string = (await vm(customer, id)).billing.priceMonthly
      expect([status, quote]).toEqual([200, { charge: price, monthly: price, currency: 'USD', balanceAfter: expect.any(String) }])
      expect([(await vm(customer, id)).status, await balance(customer)]).toEqual(['ERROR', '100.00'])
      await customer.post(`/vms/${id}/rebuild`, { osTemplateId })
      await app.settle()
      expect([(await vm(customer, id)).status, await balance(customer)]).toEqual(['RUNNING', quote.balanceAfter])
    })

    test('is rejected whenever a rebuild is', async () => {
      const customer = await app.given.customer({ credit: '6.00' })
      const id = await neverUp(customer)
      await app.given.vm(customer)
      expect(await rehearseRebuild(customer, id)).toEqual([402, 'insufficient_funds'])
      expect(await rehearseRebuild(customer, id, { osTemplateId: 'cunknown1' })).toEqual([404, 'not_found'])
      expect(await rehearseRebuild(customer, id, {})).toEqual([400, 'validation_failed'])
      const away = await app.given.vm(await rich())
      expect(await rehearseRebuild(customer, away.id)).toEqual([404, 'not_found'])
      const owner = await rich()
      const left = await app.given.vm(owner)
      await app.db.tx((tx) => unmanage(tx, app.deps, left.id))
      expect(await rehearseRebuild(owner, left.id)).toEqual([409, 'invalid_state'])
    })
  })
})
