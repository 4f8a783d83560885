import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { setQuotaLimit } from '../accounts/service.ts'
import { testApp } from '../../../test/harness.ts'
import { DriverError, type Initialization } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Deps } from '../deps.ts'
import { getVmRow, machineSpec } from './model/machine-spec.ts'
import { askInitializations } from './reconcilers/initializations.reconciler.ts'

const app = await testApp()
const customer = await app.given.customer({ credit: '10000.00' })
await app.db.tx(async (tx) => {
  for (const quota of ['vms', 'vcpu', 'ram_gib', 'disk_gib']) await setQuotaLimit(tx, customer.accountId, quota, 1000n)
})

const SECRET = 'correct-horse-battery'
const GOOD = `#!/bin/sh\necho ${SECRET}\n`
const BAD = '#!/bin/sh\n# simulate: fail\nexit 1\n'
const HANGS = '#!/bin/sh\n# simulate: hang\n'

const vm = (userData?: string, input: object = {}) => app.given.vm(customer, { ...(userData && { userData }), ...input })
const shown = async (id: string) => (await customer.get(`/vms/${id}`)).body.data.initialization
const action = async (id: string, actionId: string) => (await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.initialization
const ask = (deps: Deps = app.deps) => askInitializations.runOnce(deps)
const told = async (id: string) =>
  (
    await app.db.many<{ type: string; data: { reason: string | null; actionId: string; initialization: object } }>(
      sql`select type, data from events where subject_id = ${id} and type like 'vm.initiali%' order by id`,
    )
  ).map(({ type, data }) => ({ type, ...data.initialization, actionId: data.actionId, reason: data.reason }))
const partsOf = async (id: string) => {
  const { seed } = await machineSpec(app.deps, await getVmRow(app.db, id))
  return seed.userData?.map(({ text }) => text)
}
const stored = async (id: string) =>
  app.db.many(sql`select generation, sealed is not null as is_some from vm_user_data where vm_id = ${id}`)
const rebuild = async (id: string, input: object = {}) => {
  const { osTemplateId } = await app.given.vmInput()
  const { status, body } = await customer.post(`/vms/${id}/rebuild`, { osTemplateId, ...input })
  expect(status).toBe(202)
  await app.settle({ subjectId: id })
  return body.data.actionId as string
}
const answering = (answer: () => Promise<Initialization>): Deps => ({
  ...app.deps,
  hypervisors: {
    ...app.deps.hypervisors,
    get: async (hostId) => ({ ...(await app.deps.hypervisors.get(hostId)), readInitialization: answer }),
  },
})

describe('POST /vms with userData', () => {
  test('has it carried out, and tells of its end once', async () => {
    const { id, actionId } = await vm(GOOD)
    const pending = { status: 'PENDING', seconds: null, errors: [] }
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', initialization: pending })
    expect(await action(id, actionId)).toEqual({ ...pending, output: null })
    await Promise.all([ask(), ask(), ask()])
    await ask()
    const done = { status: 'COMPLETED', seconds: 3, errors: [] }
    expect(await shown(id)).toEqual(done)
    expect(await action(id, actionId)).toEqual({ ...done, output: '1 part(s) of user data\n' })
    expect(await told(id)).toEqual([{ type: 'vm.initialized', ...done, actionId, reason: null }])
  })

  test('says what failed', async () => {
    const { id, actionId } = await vm(gzipSync(BAD).toString('base64'))
    await ask()
    const failed = { status: 'FAILED', seconds: 3, errors: ['part-001 failed: it has a line "# simulate: fail"'] }
    expect([await shown(id), await action(id, actionId)]).toEqual([failed, expect.objectContaining(failed)])
    expect(await told(id)).toEqual([{ type: 'vm.initialization_failed', ...failed, actionId, reason: failed.errors[0] }])
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
  })

  test('keeps it sealed, and shows it nowhere', async () => {
    const { id } = await vm(GOOD)
    expect(await partsOf(id)).toEqual([GOOD])
    const { dump } = await app.db.one<{ dump: string }>(sql`select
      (select coalesce(string_agg(r::text, ''), '') from workflow_runs r) || (select coalesce(string_agg(u::text, ''), '') from vm_user_data u)
      || (select string_agg(e::text, '') from events e) || (select coalesce(string_agg(v::text, ''), '') from simulated.volumes v) as dump`)
    expect(dump).not.toContain(SECRET)
    expect(dump).not.toContain(Buffer.from(SECRET).toString('hex'))
    expect(JSON.stringify((await customer.get(`/vms/${id}`)).body)).not.toContain(SECRET)
  })

  test('is refused with a reason, and changes nothing', async () => {
    const before = await app.db.one(sql`select (select count(*) from vms) as vms, (select count(*) from workflow_runs) as runs`)
    for (const userData of ['hello', 'H4sI!', '#include http://example.com', '']) {
      const { status, body } = await customer.post('/vms', { ...(await app.given.vmInput()), userData })
      expect([status, body.error]).toEqual([400, expect.stringContaining('userData')])
    }
    expect(await app.db.one(sql`select (select count(*) from vms) as vms, (select count(*) from workflow_runs) as runs`)).toEqual(before)
  })

  test('needs none', async () => {
    const { id, actionId } = await vm()
    await ask()
    expect([await shown(id), await action(id, actionId), await stored(id), await told(id)]).toEqual([null, null, [], []])
  })

  test('pays for a guest that does what its owner says instead of answering', async () => {
    const input = await app.given.vmInput()
    const post = (userData?: string) => customer.post('/vms', { ...input, ...(userData && { userData }) })
    const outcome = async (userData?: string) => {
      const id = (await post(userData)).body.data.vm.id as string
      await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'guest_failed', times: 1 })
      await app.settle({ subjectId: id })
      return (await customer.get(`/vms/${id}`)).body.data.status
    }
    expect([await outcome(GOOD), await outcome()]).toEqual(['RUNNING', 'ERROR'])
  })
})

describe('a guest with user data', () => {
  test('is asked until it has ended, and given up after 24 hours', async () => {
    const { id, actionId } = await vm(HANGS)
    await ask()
    expect([await shown(id), await action(id, actionId)]).toMatchObject([{ status: 'RUNNING' }, { status: 'RUNNING' }])
    app.clock.advance('23h')
    await ask()
    expect(await shown(id)).toMatchObject({ status: 'RUNNING' })
    app.clock.advance('2h')
    await ask()
    expect(await shown(id)).toEqual({ status: 'UNKNOWN', seconds: null, errors: ['cloud-init did not end within 24 hours'] })
    expect(await told(id)).toMatchObject([{ type: 'vm.initialization_failed', status: 'UNKNOWN' }])
  })

  test('that does not answer is asked again, and says nothing in the end', async () => {
    const { id } = await vm(GOOD)
    const silent = answering(() => Promise.reject(new DriverError('transient', 'silent')))
    await ask(silent)
    expect(await shown(id)).toMatchObject({ status: 'PENDING' })
    app.clock.advance('25h')
    await ask(silent)
    expect(await shown(id)).toMatchObject({ status: 'UNKNOWN', errors: ['The guest did not say within 24 hours what came of it'] })
  })

  test('whose image runs nothing of the kind says so', async () => {
    const { id } = await vm(GOOD)
    await ask(answering(async () => ({ state: 'none', seconds: null, errors: [], output: '' })))
    expect([await shown(id), await told(id)]).toMatchObject([{ status: 'UNSUPPORTED' }, [{ type: 'vm.initialization_failed' }]])
  })

  test('is told of once, also where a worker dies before it has written the answer down', async () => {
    const { id } = await vm(GOOD)
    let asked = 0
    const dying: Deps = { ...app.deps, db: { ...app.db, tx: () => Promise.reject(new Error('the worker is gone')) } as Deps['db'] }
    await ask({
      ...dying,
      hypervisors: answering(async () => ((asked += 1), { state: 'completed', seconds: 1, errors: [], output: '' })).hypervisors,
    })
    expect([asked, await told(id)]).toEqual([1, []])
    await ask()
    await ask()
    expect(await told(id)).toMatchObject([{ type: 'vm.initialized' }])
  })

  test('that is deleted leaves its action with an end', async () => {
    const { id, actionId } = await vm(HANGS)
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await action(id, actionId)).toMatchObject({ status: 'UNKNOWN', errors: ['The VM was deleted before it had ended'] })
    expect(await stored(id)).toEqual([])
  })
})

describe('POST /vms/{id}/rebuild', () => {
  test('carries out what the VM was made with again, or something else, or nothing', async () => {
    const { id, actionId } = await vm(BAD)
    await ask()
    const again = await rebuild(id)
    expect([await partsOf(id), await shown(id)]).toMatchObject([[BAD], { status: 'PENDING' }])
    await ask()
    const other = await rebuild(id, { userData: GOOD })
    expect(await partsOf(id)).toEqual([GOOD])
    await ask()
    const none = await rebuild(id, { userData: null })
    await ask()
    expect([await partsOf(id), await shown(id), await stored(id), await action(id, none)]).toEqual([undefined, null, [], null])
    expect((await told(id)).map((each) => [each.type, each.actionId])).toEqual([
      ['vm.initialization_failed', actionId],
      ['vm.initialization_failed', again],
      ['vm.initialized', other],
    ])
    expect(await action(id, actionId)).toMatchObject({ status: 'FAILED' })
  })

  test('that fails leaves the VM with what its disk was made with', async () => {
    const { id } = await vm(GOOD)
    await ask()
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
    const failed = await rebuild(id, { userData: BAD })
    expect([await partsOf(id), await shown(id), await action(id, failed)]).toMatchObject([[GOOD], { status: 'COMPLETED' }, null])
    expect(await stored(id)).toEqual([{ generation: 1, is_some: true }])
    await ask()
    expect(await told(id)).toHaveLength(1)
  })

  test('makes a VM that failed to provision with what it was ordered with', async () => {
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
    const { id, actionId } = await vm(GOOD)
    expect([(await customer.get(`/vms/${id}`)).body.data.status, await action(id, actionId)]).toEqual(['ERROR', null])
    await rebuild(id)
    expect([await partsOf(id), await stored(id)]).toEqual([[GOOD], [{ generation: 2, is_some: true }]])
    await ask()
    expect(await told(id)).toMatchObject([{ type: 'vm.initialized' }])
  })

  test('refuses what cannot be read, and changes nothing', async () => {
    const { id } = await vm(GOOD)
    const { osTemplateId } = await app.given.vmInput()
    const { status, body } = await customer.post(`/vms/${id}/rebuild`, { osTemplateId, userData: 'hello' })
    expect([status, body.error]).toEqual([400, expect.stringContaining('must begin with')])
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', currentAction: null })
  })
})
