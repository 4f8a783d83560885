// A VM on a lost host is deleted without calling the host, so that its owner stops paying for a VM nobody can reach.
import { describe, expect, test } from 'vitest'
import { volumesOf } from '../../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { removeHost } from '../../hosts/service.ts'
import { unmanage } from '../service.ts'

describe('DELETE /vms/{id} when the host is lost', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })
  const left = () => app.db.many<{ vm_id: string }>(sql`select vm_id from stale_machines`)
  const awaySince = (time: Date | null) => app.db.run(sql`update hosts set unreachable_since = ${time} where id = ${app.host.id}`)
  const ago = (minutes: number): Date => new Date(app.clock.now().getTime() - minutes * 60_000)

  test('deletes and refunds the VM; its stale machine is purged when the host returns', async () => {
    const { id } = await app.given.vm(customer)
    await app.simulated.faults.loseHost()
    await awaySince(ago(10))
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
    const [newest] = (await customer.get('/wallet/transactions')).body.data
    expect(newest).toMatchObject({ type: 'VM_REFUND', referenceId: id })
    expect(await left()).toEqual([{ vm_id: id }])
    await app.simulated.faults.returnHost()
    await awaySince(null)
    await app.rest()
    expect([await left(), await volumesOf(app, id)]).toEqual([[], []])
    await app.checkInvariants()
  })

  test('waits for a host that has only just become unreachable', async () => {
    const { id } = await app.given.vm(customer)
    await app.simulated.faults.loseHost()
    await awaySince(ago(1))
    const { actionId } = (await customer.delete(`/vms/${id}`)).body.data
    await expect(app.settle({ rounds: 3 })).rejects.toThrow('still open runs')
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.status).toBe('RUNNING')
    await app.simulated.faults.returnHost()
    await awaySince(null)
    await app.settle()
    expect([(await customer.get(`/vms/${id}`)).status, await left()]).toEqual([404, []])
  })

  describe('and was removed from the fleet', () => {
    const leave = (vmId: string) =>
      app.db.tx(async (tx) => {
        await unmanage(tx, app.deps, vmId)
        await removeHost(tx, app.clock.now(), app.host)
      })
    const comeBack = async () => {
      await app.simulated.faults.returnHost()
      await app.db.run(sql`update hosts set removed_at = null, unreachable_since = null, maintenance = false where id = ${app.host.id}`)
    }
    const vmsCounted = async () =>
      (await customer.get('/account/limits')).body.data.find(({ name }: { name: string }) => name === 'vms').used

    test('deletes the VM and releases its quotas', async () => {
      const { id } = await app.given.vm(customer)
      const before = await vmsCounted()
      await app.simulated.faults.loseHost()
      await leave(id)
      await customer.delete(`/vms/${id}`)
      await app.settle()
      expect((await customer.get(`/vms/${id}`)).status).toBe(404)
      expect([before - (await vmsCounted()), await left()]).toEqual([1, [{ vm_id: id }]])
      await comeBack()
      await app.rest()
      expect([await left(), await volumesOf(app, id)]).toEqual([[], []])
    })

    test.each([
      ['that answers', 0],
      ['that answers again after a while', 10],
    ])('but purges the VM from a host %s', async (_, roundsAway) => {
      const { id } = await app.given.vm(customer)
      await app.simulated.faults.loseHost()
      await leave(id)
      app.clock.advance('1d')
      await customer.delete(`/vms/${id}`)
      await expect(app.settle({ rounds: roundsAway })).rejects.toThrow('still open runs')
      await app.simulated.faults.returnHost()
      await app.settle()
      await comeBack()
      expect([(await customer.get(`/vms/${id}`)).status, await left(), await volumesOf(app, id)]).toEqual([404, [], []])
    })
  })
})
