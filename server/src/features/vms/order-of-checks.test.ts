import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { lockOwnVm } from './service.ts'

describe('404 for a missing resource takes precedence over 409 for an open action', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  await customer.post(`/vms/${id}/restart`) // queued, and no worker runs it

  test.each([
    ['upgrade', 'POST', { planId: 'cnothere0000' }, 'Plan not found'],
    ['rebuild', 'POST', { osTemplateId: 'cnothere0000' }, 'OS template not found'],
    ['networks', 'POST', { networkId: 'cnothere0000' }, 'Network not found'],
    ['networks/cnothere0000', 'DELETE', undefined, 'Network not found'],
  ])('%s %s', async (path, method, body, sentence) => {
    const answer = method === 'POST' ? await customer.post(`/vms/${id}/${path}`, body) : await customer.delete(`/vms/${id}/${path}`)
    expect([answer.status, answer.body.error]).toEqual([404, sentence])
  })

  test('a known plan gets the 409 of the open action', async () => {
    const [plan] = (await customer.get('/plans')).body.data
    const { status, headers } = await customer.post(`/vms/${id}/upgrade`, { planId: plan.id })
    expect([status, headers['x-error-code']]).toEqual([409, 'busy'])
  })

  test("another account's VM reads 404 without waiting for its lock", async () => {
    const stranger = await app.given.customer()
    await app.db.tx(async (holder) => {
      await lockOwnVm(holder, customer, id)
      const attempt = app.db.tx(async (tx) => {
        await tx.run(sql`set local lock_timeout = '1s'`)
        await lockOwnVm(tx, stranger, id)
      })
      await expect(attempt).rejects.toThrow('VM not found')
    })
  })
})
