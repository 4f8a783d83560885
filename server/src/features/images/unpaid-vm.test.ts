// Images of what an unpaid VM has.
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { renewals } from '../billing/renew.reconciler.ts'

test('nobody keeps an unpaid VM by making images of its copies, one after another', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })
  const { id: vmId } = await app.given.vm(customer)
  const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
  await app.settle()
  const statusOf = async () => (await customer.get(`/vms/${vmId}`)).body.data?.status
  await app.db.run(sql`update plans set price_cents = 100000000`)
  for (const wait of ['32d', '25h']) {
    app.clock.advance(wait)
    await renewals.runOnce(app.deps)
    await app.settle()
  }
  expect(await statusOf()).toBe('SUSPENDED')
  app.clock.advance('8d')
  const { status, headers, body } = await customer.post('/images', { name: 'golden', backupId: backup.id })
  await renewals.runOnce(app.deps)
  await app.settle()
  expect(await statusOf()).toBeUndefined()
  expect([status, headers['x-error-code'], body.error]).toEqual([409, 'invalid_state', expect.stringContaining('is not paid')])
})
