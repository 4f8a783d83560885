// A VM's host is lost and its restore on another host fails. Only the lost host has the latest data, so the VM is rolled back to it.
import { describe, expect, test } from 'vitest'
import { allowManyVms, givenSecondHost } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { dropPoolsOf } from '../hosts/public-addresses.ts'
import { addPool, listHosts, removeHost } from '../hosts/service.ts'
import { deleteHost, type HostRow } from '../hosts/sql.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'

describe('a failed restore on another host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  await givenSecondHost(app)
  let hosts = 0

  const vmOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
  const roomOf = (host: HostRow) => app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts where id = ${host.id}`)
  const away = (host: HostRow, minutes: number | null) =>
    app.db.run(sql`update hosts set unreachable_since = ${minutes && new Date(app.clock.now().getTime() - minutes * 60_000)}
      where id = ${host.id}`)

  const controls = async () => (await listHosts(app.db)).map(({ id }) => ({ id, ...controlOf(app, id) }))
  const fillDisks = async (but: HostRow) => {
    for (const { id, faults } of await controls()) if (id !== but.id) await faults.fillDisk()
  }
  const freeDisks = async () => {
    for (const { faults } of await controls()) await faults.freeDisk()
  }

  /** A dedicated host with a VM in a private network; its disk read "before" at the backup and "after" when the host was lost. */
  async function given() {
    const host = await givenHost(app, `lost-${++hosts}`)
    const pool = { regionId: host.region_id, hostId: host.id, cidr: `10.67.${hosts}.0/24`, gateway: `10.67.${hosts}.1`, dns: [] }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    const network = { name: 'inside', nodeId: host.id, cidr: `10.9.${hosts}.0/24` }
    const { id: networkId } = (await customer.post('/networks', network)).body.data
    await app.rest()
    const { id: vmId } = await placeOn(app, host.id, () => app.given.vm(customer, { privateNetworkIds: [networkId] }))
    const control = controlOf(app, host.id)
    await control.drift.writeFile(vmId, 'moment', 'before')
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    await control.drift.writeFile(vmId, 'moment', 'after')
    const before = await vmOf(vmId)
    const restore = () => customer.post(`/vms/${vmId}/backups/${id}/restore`)
    const restoreElsewhere = async () => {
      await control.faults.loseHost()
      await away(host, 10)
      await fillDisks(host)
      expect((await restore()).status).toBe(202)
    }
    const comeBack = async () => {
      await control.faults.returnHost()
      await away(host, null)
    }
    return { host, control, vmId, before, restore, restoreElsewhere, comeBack }
  }
  test('rolls the VM back to its host although that has no free capacity', async () => {
    const { host, control, vmId, before, restoreElsewhere, comeBack } = await given()
    const room = await roomOf(host)
    await restoreElsewhere()
    expect(await roomOf(host)).toEqual(room)
    await comeBack()
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib where id = ${host.id}`)
    await app.checkInvariants()
    await app.settle()
    await freeDisks()
    const { ipAddress, privateNetworks } = before
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', ipAddress, privateNetworks })
    expect(await control.drift.readFile(vmId, 'moment')).toBe('after')
    expect(await roomOf(host)).toEqual(room)
    await app.rest()
    await app.checkInvariants()
  })

  test('rolls the VM back, and removes leftovers on the other host once that is reachable', async () => {
    const { control, vmId, before, restoreElsewhere, comeBack } = await given()
    await restoreElsewhere()
    const { host_id: elsewhere } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)
    await freeDisks()
    const other = controlOf(app, elsewhere)
    await other.faults.plant({ verb: 'ensureReady', kind: 'transient', atCall: 1, times: 100 })
    await expect(app.settle({ rounds: 3 })).rejects.toThrow('still open runs')
    await other.faults.loseHost()
    app.clock.advance('6h')
    await app.settle()
    expect(await app.db.many(sql`select host_id from stale_machines where vm_id = ${vmId}`)).toEqual([{ host_id: elsewhere }])
    await comeBack()
    await app.rest()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', ipAddress: before.ipAddress })
    expect(await control.drift.readFile(vmId, 'moment')).toBe('after')
    expect(await app.db.many(sql`select from stale_machines`)).toEqual([])
    await app.checkInvariants()
  })

  test('blocks removal of its host; if the host is deleted anyway, the VM stays in ERROR and can be restored', async () => {
    const { host, vmId, before, restore, restoreElsewhere, comeBack } = await given()
    await restoreElsewhere()
    await comeBack()
    await expect(app.db.tx((tx) => removeHost(tx, app.clock.now(), host))).rejects.toMatchObject({
      code: 'busy',
      message: `1 VM is being migrated to host ${host.name}, or restored elsewhere and returns to it if that fails: try again when that has ended`,
    })
    await app.db.tx(async (tx) => {
      await dropPoolsOf(tx, host.id)
      await deleteHost(tx, host.id)
    })
    await app.settle()
    await freeDisks()
    expect(await vmOf(vmId)).toMatchObject({
      status: 'ERROR',
      statusReason: expect.stringMatching(/^The restore failed, and its old disk is gone with its host: .* disk space/),
      privateNetworks: before.privateNetworks,
      currentAction: null,
    })
    await app.rest()
    await app.checkInvariants()
    expect((await restore()).status).toBe(202)
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', statusReason: null })
  })

  test('detaches lost interfaces only while the VM is idle and managed', async () => {
    const { host, vmId } = await given()
    const { mac } = await app.db.one<{ mac: string }>(sql`select mac from network_attachments where vm_id = ${vmId}`)
    const nics = async () => (await (await app.deps.hypervisors.get(host.id)).findMachine(vmId, AbortSignal.timeout(5_000)))?.nics.length
    await app.db.run(sql`delete from network_attachments where vm_id = ${vmId}`)
    await app.db.run(sql`delete from simulated.ports where mac = ${mac}`)
    await app.db.run(sql`insert into stale_nics (host_id, vm_id, mac) values (${host.id}, ${vmId}, ${mac})`)
    await app.checkInvariants()
    await customer.post(`/vms/${vmId}/restart`)
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await nics()).toBe(2)
    await app.settle()
    await app.db.run(sql`update vms set status = 'UNMANAGED' where id = ${vmId}`)
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await nics()).toBe(2)
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await nics()).toBe(1)
  })
})
