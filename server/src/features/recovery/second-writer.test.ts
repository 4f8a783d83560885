// No host starts a VM whose disk is in a storage backend while another, which stopped answering, may still run it.
import { describe, expect, test } from 'vitest'
import { controlOf } from '../../../test/hosts.ts'
import { follow, givenLostHosts, leaveOpen, look, placeOf, powerOn } from '../../../test/lost-hosts.ts'
import { redfishServer } from '../../../test/redfish-server.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError, findRun } from '../../workflow/run-store.ts'
import { changePower, getHost, type HostRow } from '../hosts/service.ts'
import { startMigration } from '../vms/service.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { declareDestroyed, findFence, forgetHost, planRecovery, requestFence } from './service.ts'

describe('a VM that a host may still run', async () => {
  const { app, customer, hostToLose, vmOn, vmOf } = await givenLostHosts({ isAutomatic: false })
  const dieAt = async (at: string, runId: string): Promise<void> => {
    const checkpoint = (where: string): void => {
      if (where === at) throw new AttemptLostError(`lost at ${at}`)
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, runId)).rejects.toThrow(`lost at ${at}`)
  }
  const cutOff = async (host: HostRow): Promise<void> => {
    await look(app)
    await controlOf(app, host.id).faults.loseHost()
    app.clock.advance('1m')
    await look(app)
  }
  const unshelve = (id: string) => customer.post(`/vms/${id}/unshelve`)
  const refused = [503, 'service_unavailable']

  /** Cut off when it has started the machine. */
  async function cutOffInUnshelve() {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await customer.post(`/vms/${id}/shelve`)
    await app.settle({ subjectId: id })
    await reconcileStaleMachines.runOnce(app.deps)
    await leaveOpen(app, host)
    const { actionId } = (await unshelve(id)).body.data as { actionId: string }
    await dieAt('boot saved', actionId)
    await cutOff(host)
    return { host, id, actionId }
  }

  /** Cut off when the machine has arrived there. */
  async function cutOffInMove(arrange = async (_vmId: string): Promise<void> => {}) {
    const [source, destination] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(source)
    await arrange(id)
    await leaveOpen(app, source, destination)
    const { actionId } = await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: destination.name }))
    await dieAt('move run', actionId)
    await cutOff(destination)
    return { id, source, destination }
  }
  const settleSome = (id: string) => app.settle({ subjectId: id, rounds: 50 }).catch(() => undefined)
  const destroy = async ({ id }: HostRow) => declareDestroyed(app.deps, await getHost(app.db, id))
  const fence = async ({ id }: HostRow): Promise<string[]> => {
    await requestFence(app.deps, await getHost(app.db, id))
    await app.settle({ subjectId: id })
    return (await findFence(app.db, id))!.means
  }
  const forget = ({ id }: HostRow): Promise<boolean> => forgetHost(app.db, app.clock.now(), id)

  test('is not unshelved elsewhere before the host that it was unshelved on answers', async () => {
    const { host, id, actionId } = await cutOffInUnshelve()
    await app.settle({ subjectId: id, rounds: 1_000 })
    expect([(await findRun(app.db, actionId))!.status, await powerOn(app, host.id, id)]).toEqual(['FAILED', 'running'])
    await leaveOpen(app, app.host)
    const { status, headers } = await unshelve(id)
    expect([status, headers['x-error-code']]).toEqual(refused)
    await controlOf(app, host.id).faults.returnHost()
    await follow(app)
    app.clock.advance('1m')
    await reconcileStaleMachines.runOnce(app.deps)
    expect((await unshelve(id)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect([(await vmOf(id)).status, (await placeOf(app, id)).host_id]).toEqual(['RUNNING', app.host.id])
    expect(await powerOn(app, host.id, id)).toBeUndefined()
  })

  test('is not unshelved elsewhere where that host was declared destroyed, but never fenced', async () => {
    const { host, id } = await cutOffInUnshelve()
    await destroy(host)
    await app.settle({ subjectId: id })
    await leaveOpen(app, app.host)
    const { status, headers } = await unshelve(id)
    expect([status, headers['x-error-code']]).toEqual(refused)
    expect(await forget(host)).toBe(false)
  })

  test.each(['does not answer', 'was declared destroyed, but never fenced'])(
    'is not started where it was when its destination %s',
    async (how) => {
      const { id, source, destination } = await cutOffInMove()
      if (how !== 'does not answer') await destroy(destination)
      await settleSome(id)
      await customer.post(`/vms/${id}/start`)
      await settleSome(id)
      expect([await powerOn(app, source.id, id), await powerOn(app, destination.id, id)]).not.toEqual(['running', 'running'])
      expect(await powerOn(app, destination.id, id)).toBe('running')
    },
  )

  test('is unshelved elsewhere when that host, which has nothing else, is cut off from its disk', async () => {
    const { host, id } = await cutOffInUnshelve()
    await app.settle({ subjectId: id, rounds: 1_000 })
    expect(await fence(host)).toEqual(['BLOCKLIST'])
    await leaveOpen(app, app.host)
    expect((await unshelve(id)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect([(await vmOf(id)).status, await powerOn(app, app.host.id, id)]).toEqual(['RUNNING', 'running'])
  })

  test('is not started where it was when its destination was fenced without being cut off from its disk, and can be deleted', async () => {
    const { id, source, destination } = await cutOffInMove()
    expect(await fence(destination)).toEqual(['BLOCKLIST'])
    await destroy(destination)
    await app.settle({ subjectId: id })
    expect([await forget(destination), await powerOn(app, source.id, id)]).toEqual([false, undefined])
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await forget(destination)).toBe(true)
  })

  test('waits for that destination when its own host is lost too', async () => {
    const { id, source, destination } = await cutOffInMove()
    await destroy(destination)
    await app.settle({ subjectId: id })
    await cutOff(source)
    const setFenced = (at: Date | null) => app.db.run(sql`update hosts set fenced_at = ${at} where id = ${source.id}`)
    await setFenced(app.clock.now())
    const { vms } = await planRecovery(app.deps, source, undefined, false)
    await setFenced(null)
    expect(vms).toMatchObject([{ id, outcome: 'WAITS', problem: expect.stringContaining(`may still run on ${destination.name}`) }])
  })

  test('is started where it was when its destination, of which no client is known, was switched off', async () => {
    const { id, source, destination } = await cutOffInMove()
    const { url, user, password, uuid: systemUuid } = await redfishServer(() => controlOf(app, destination.id).faults.cutPower())
    await app.db.tx((tx) => changePower(tx, app.deps.vault, destination, { url, user, password, ca: null, systemUuid }))
    expect(await fence(destination)).toEqual(['BLOCKLIST', 'POWER'])
    app.clock.advance('1m')
    await app.settle({ subjectId: id })
    expect([await powerOn(app, source.id, id), (await vmOf(id)).status]).toEqual(['running', 'RUNNING'])
    await destroy(destination)
    expect(await forget(destination)).toBe(true)
  })

  test('is started where it was when its destination was fenced and has returned: a guest that lost its disk is not moved back', async () => {
    const { id, source, destination } = await cutOffInMove()
    await settleSome(id)
    await fence(destination)
    const { faults } = controlOf(app, destination.id)
    await faults.returnHost()
    await faults.plant({ verb: 'ensureMigrated', kind: 'transient', times: 1_000 })
    await look(app)
    app.clock.advance('1m')
    await app.settle({ subjectId: id, rounds: 1_000 })
    expect([await powerOn(app, source.id, id), await powerOn(app, destination.id, id)]).toEqual(['running', undefined])
    await faults.clear()
    await look(app)
    expect((await getHost(app.db, destination.id)).fenced_at).toBeNull()
  })

  test('is not started, and leaves its volume to no other VM, while its destination may write to that', async () => {
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
    let volumeId = ''
    const { id, source, destination } = await cutOffInMove(async (vmId) => {
      const { region_id: regionId } = await app.db.one<{ region_id: string }>(sql`select region_id from vms where id = ${vmId}`)
      const order = { name: 'data', sizeGiB: 1, storage: 'REPLICATED', vmId, regionId }
      volumeId = (await customer.post('/volumes', order)).body.data.id
      await app.settle({ subjectId: vmId })
    })
    await destroy(destination)
    await app.settle({ subjectId: id })
    expect([await powerOn(app, source.id, id), await powerOn(app, destination.id, id)]).toEqual([undefined, 'running'])
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle({ subjectId: id })
    await leaveOpen(app, source)
    const other = await vmOn(source)
    const { status, headers } = await customer.post(`/volumes/${volumeId}/attach`, { vmId: other.id })
    expect([status, headers['x-error-code'], await forget(destination)]).toEqual([409, 'busy', false])
  })
})
