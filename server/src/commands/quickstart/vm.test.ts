import { expect, test } from 'vitest'
import { testApp, type Answer } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { declareDestroyed, removeLost, startRecoveries } from '../../features/recovery/service.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Api } from './api-client.ts'
import { ensureVm } from './vm.ts'

const dataOf = async (asked: Promise<Answer>) => {
  const { body } = await asked
  if (!body.success) throw new Error(body.error)
  return body.data
}

test('a VM that was lost with its host has run: it is kept, and its owner told how to build it anew', async () => {
  const app = await testApp()
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '100.00' })
  const api: Api = {
    get: (path) => dataOf(customer.get(path)),
    post: (path, body) => dataOf(customer.post(path, body)),
    delete: (path) => dataOf(customer.delete(path)),
  }
  const host = await givenHost(app, 'rack1')
  const { id } = await placeOn(app, host.id, () => app.given.vm(customer, { hostname: 'first' }))
  await controlOf(app, host.id).faults.loseHost()
  await declareDestroyed(app.deps, host)
  await app.settle()
  await removeLost(app.deps, host)
  await startRecoveries(app.deps, host.id, undefined)

  const wanted = { hostname: 'first', publicKey: '', templates: [] }
  await expect(ensureVm(api, wanted)).rejects.toThrow(
    /first is ERROR: .*\nTo build it anew, .*: npx berth vm rebuild first --os debian-12$/,
  )
  expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'ERROR', currentAction: null })
})
