import { expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration } from '../../kernel/clock.ts'

const app = await testApp()

test('an operator announces a maintenance to those with VMs on the host, lists and cancels it', async () => {
  const [operator, user] = [await givenBrowser(app, { isOperator: true }), await givenBrowser(app)]
  const customer = await app.given.customer({ credit: '100.00' })
  const { id: vmId } = await app.given.vm(customer)
  const at = (after: string): string => addDuration(app.clock.now(), after).toISOString()
  const order = { host: app.host.id, startsAt: at('1d'), endsAt: at('2d'), text: 'New memory.\nYour VM keeps running.' }
  const announced = await operator.post('/operator/maintenances', order)
  expect([announced.status, announced.body.data]).toEqual([201, { id: expect.any(String), accounts: 1 }])
  const { id } = announced.body.data
  expect((await operator.get('/operator/maintenances')).body.data).toEqual([
    { ...order, id, host: app.host.name, state: 'SCHEDULED', accounts: 1, vms: 1 },
  ])
  expect((await customer.get('/maintenances')).body.data).toMatchObject([{ state: 'SCHEDULED', vmIds: [vmId], text: order.text }])
  const refused = await Promise.all([
    operator.post('/operator/maintenances', { ...order, host: 'nowhere' }),
    operator.post('/operator/maintenances', { ...order, endsAt: at('1h') }),
    operator.post('/operator/maintenances', { ...order, startsAt: '' }),
    operator.post('/operator/maintenances', { ...order, text: ' ' }),
    operator.delete('/operator/maintenances/cnowhere1'),
    user.post('/operator/maintenances', order),
    user.delete(`/operator/maintenances/${id}`),
  ])
  expect(refused.map(({ status }) => status)).toEqual([404, 400, 400, 400, 404, 403, 403])
  expect((await operator.delete(`/operator/maintenances/${id}`)).body.data).toEqual({ id, accounts: 1 })
  expect((await operator.delete(`/operator/maintenances/${id}`)).status).toBe(409)
  expect((await operator.get('/operator/maintenances')).body.data).toMatchObject([{ id, state: 'CANCELLED' }])
})
