// A recovery from a destroyed host survives a crash and a failure at any step: the VM is restored elsewhere, or waits as before.
import { expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { startDailyBackup } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { restoreFromBackup } from '../backups/restore.workflow.ts'
import type { HostRow } from '../hosts/service.ts'
import { declareDestroyed, forgetHost, startRecoveries } from './service.ts'

test(
  'a recovery survives a crash and a failure at any step',
  async () => {
    const app = await testApp(storesInMemory())
    await app.db.run(sql`update catalog_values set value = 1000000000 where name like 'quota.%'`)
    await app.db.run(sql`update address_pools set host_id = null`)
    await givenBackupTarget(app)
    const customer = await app.given.customer({ credit: '100000.00' })
    const { id: networkId } = (await customer.post('/networks', { name: 'kept', nodeId: app.host.id, cidr: '10.9.0.0/24' })).body.data
    await app.rest()
    let [hosts, vmId, balance] = [0, '', '']
    let host: HostRow
    const place = () =>
      app.db.one<{ host_id: string; address: string; networks: string[] }>(sql`
        select host_id, host(ip_address) as address, mac,
          array(select concat_ws(' ', network_id, mac, address) from network_attachments where vm_id = v.id) as networks
        from vms v where id = ${vmId}`)
    let before: Awaited<ReturnType<typeof place>>
    const wallet = async () => (await customer.get('/wallet')).body.data.balance
    const statusOf = async () => (await customer.get(`/vms/${vmId}`)).body.data.status
    const restored = async () => {
      expect(await place()).toEqual({ ...before, host_id: app.host.id })
      expect(await statusOf()).toBe('RUNNING')
      expect(await app.simulated.drift.readFile(vmId, 'moment')).toBe('before')
      expect(await wallet()).toBe(balance)
      expect(await forgetHost(app.db, app.clock.now(), host.id)).toBe(true)
      await app.rest()
      await app.checkInvariants()
      await customer.delete(`/vms/${vmId}`)
      await app.rest()
    }
    const setup = {
      db: app.db,
      clock: app.clock,
      runner: testRunner(app.deps),
      workflow: restoreFromBackup,
      start: async () => {
        host = await givenHost(app, `rack${++hosts}`)
        ;({ id: vmId } = await placeOn(app, host.id, () => app.given.vm(customer, { privateNetworkIds: [networkId] })))
        const { drift, faults } = controlOf(app, host.id)
        await drift.writeFile(vmId, 'moment', 'before')
        await startDailyBackup(app, vmId)
        await app.settle()
        await drift.writeFile(vmId, 'moment', 'after')
        before = await place()
        balance = await wallet()
        expect(before.host_id).toBe(host.id)
        await faults.loseHost()
        await declareDestroyed(app.deps, host)
        const [started] = await startRecoveries(app.deps, host.id, undefined)
        if (started?.outcome !== 'STARTED') throw new Error('The recovery has not started')
        return started.runId
      },
      completed: restored,
      failed: async () => {
        expect(await place()).toEqual(before)
        expect(await statusOf()).toBe('ERROR')
        await app.checkInvariants()
        await startRecoveries(app.deps, host.id, undefined)
        await app.settle()
        await restored()
      },
    }
    expect((await testCrashSafety(setup, { thorough: false })).length).toBeGreaterThan(restoreFromBackup.steps.length)
  },
  30 * 60_000,
)
