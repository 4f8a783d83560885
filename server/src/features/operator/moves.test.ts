import { expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { givenHost } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()

test('a drain is planned, started, watched and cancelled, and a VM moved and kept', async () => {
  const [operator, user] = [await givenBrowser(app, { isOperator: true }), await givenBrowser(app)]
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '100.00' })
  const vm = await app.given.vm(customer)
  const refused = await operator.post(`/operator/hosts/${app.host.id}/drain`, {})
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('cannot move, so nothing was changed')])
  expect((await operator.get(`/operator/hosts/${app.host.id}/drain`)).body.data).toBe(null)
  expect((await operator.get(`/operator/vms/${vm.id}/migration/plan`)).status).toBe(503)

  const other = await givenHost(app, 'other')
  const { body: plan } = await operator.get(`/operator/hosts/${app.host.id}/drain/plan`)
  expect(plan.data.moves).toContainEqual({
    vmId: vm.id,
    name: expect.any(String),
    to: 'other',
    bytes: expect.any(Number),
    seconds: expect.any(Number),
    note: null,
  })
  expect((await operator.get(`/operator/vms/${vm.id}/migration/plan?to=other`)).body.data).toEqual({
    from: 'local',
    to: 'other',
    note: null,
  })
  expect((await operator.get(`/operator/vms/${vm.id}/migration/plan?to=nowhere`)).status).toBe(404)

  const started = await operator.post(`/operator/hosts/${app.host.id}/drain`, { concurrency: 1, partial: true })
  expect([started.status, started.body.data]).toMatchObject([202, { status: 'RUNNING', moved: [], moving: [] }])
  expect((await operator.post(`/operator/hosts/${app.host.id}/drain`, {})).status).toBe(409)
  const hosts = (await operator.get('/operator/hosts')).body.data as { id: string; draining: boolean; maintenance: boolean }[]
  expect(hosts.filter(({ draining }) => draining).map(({ id }) => id)).toEqual([app.host.id])
  expect((await operator.delete(`/operator/hosts/${app.host.id}/drain`)).body.data).toMatchObject({ status: 'CANCELLED' })
  expect((await operator.delete(`/operator/hosts/${app.host.id}/drain`)).status).toBe(409)
  await operator.patch(`/operator/hosts/${app.host.id}`, { maintenance: false })

  const moving = await operator.post(`/operator/vms/${vm.id}/migration`, { to: other.id })
  expect([moving.status, moving.body.data.message]).toEqual([202, 'The VM is being moved from local to other'])
  const kept = await operator.delete(`/operator/vms/${vm.id}/migration`)
  expect(kept.body.data).toEqual({ message: 'The VM stays on its host', actionId: moving.body.data.actionId })
  for (const path of [`hosts/${app.host.id}/drain`, `vms/${vm.id}/migration`])
    expect((await user.post(`/operator/${path}`, {})).status).toBe(403)
})
