// A VM with private networks whose host is lost: it keeps them on the other host, and when the restore fails.
import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, givenSecondHost, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'

describe('a restore on another host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const second = await givenSecondHost(app)
  const other = controlOf(app, second.id)
  let ranges = 0

  const givenNetwork = async (): Promise<string> => {
    const network = { name: `n${++ranges}`, nodeId: app.host.id, cidr: `10.9.${ranges}.0/24` }
    return (await customer.post('/networks', network)).body.data.id
  }
  const vmOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
  const portsOf = (vmId: string) =>
    app.db.many<{ mac: string; host: string; addresses: string[]; network_id: string | null }>(
      sql`select mac, host, addresses, network_id from simulated.ports where vm_id = ${vmId} order by network_id nulls first`,
    )
  const told = (vmId: string) => app.db.many(sql`select type from events where subject_id = ${vmId} and type like 'vm.network_%'`)

  /** A VM in two networks whose disk read "before" when it was backed up to the other host. */
  async function given() {
    const networkIds = [await givenNetwork(), await givenNetwork()]
    await app.rest()
    const { id: vmId } = await app.given.vm(customer, { privateNetworkIds: networkIds })
    await diskOf(app, vmId).write('before')
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    await diskOf(app, vmId).write('after')
    const restore = (body?: object) => customer.post(`/vms/${vmId}/backups/${id}/restore`, body)
    return { vmId, networkIds, restore }
  }
  const away = (minutes: number | null) =>
    app.db.run(sql`update hosts set unreachable_since = ${minutes && new Date(app.clock.now().getTime() - minutes * 60_000)}
      where id = ${app.host.id}`)
  const lose = async () => {
    await app.simulated.faults.loseHost()
    await away(10)
  }
  const comeBack = async () => {
    await app.simulated.faults.returnHost()
    await away(null)
  }

  test.each([undefined, { withoutNetworks: true }])(
    'takes the private networks along, with addresses and ports, also when asked with %j',
    async (asked) => {
      const { vmId, restore } = await given()
      const [before, ports] = [await vmOf(vmId), await portsOf(vmId)]
      expect(ports.map(({ host }) => host)).toEqual(Array(3).fill(app.host.hostname))
      await lose()
      expect((await restore(asked)).status).toBe(202)
      await app.settle()
      const after = await vmOf(vmId)
      expect(after).toMatchObject({ status: 'RUNNING', privateNetworks: before.privateNetworks })
      expect(after.ipAddress).not.toBe(before.ipAddress)
      const [open, ...inside] = await portsOf(vmId)
      expect(open).toMatchObject({ host: second.hostname, addresses: [after.ipAddress] })
      expect(open!.mac).not.toBe(ports[0]!.mac)
      expect(inside).toEqual(ports.slice(1).map((port) => ({ ...port, host: second.hostname })))
      expect(await other.drift.readFile(vmId, 'moment')).toBe('before')
      expect(await told(vmId)).toEqual([])
      await comeBack()
      await app.rest()
      expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 2 on second', 'seed 2 on second'])
      await app.checkInvariants()
    },
  )

  test('refuses a withoutNetworks that is not true or false', async () => {
    const { restore } = await given()
    expect((await restore({ withoutNetworks: 'yes' })).status).toBe(400)
  })

  test("that fails keeps the VM's networks, addresses and ports", async () => {
    const { vmId, restore } = await given()
    const [before, ports] = [await vmOf(vmId), await portsOf(vmId)]
    await lose()
    await other.faults.fillDisk()
    await restore()
    await app.settle()
    await other.faults.freeDisk()
    const { status, privateNetworks, ipAddress } = await vmOf(vmId)
    expect({ status, privateNetworks, ipAddress }).toEqual({
      status: 'RUNNING',
      privateNetworks: before.privateNetworks,
      ipAddress: before.ipAddress,
    })
    expect(await told(vmId)).toEqual([])
    await comeBack()
    await app.rest()
    expect(await portsOf(vmId)).toEqual(ports)
    expect(await diskOf(app, vmId).read()).toBe('after')
    await app.checkInvariants()
  })

  test('keeps a network from being deleted meanwhile', async () => {
    const { vmId, networkIds, restore } = await given()
    await lose()
    await restore()
    expect((await customer.delete(`/networks/${networkIds[0]}`)).status).toBe(409)
    await app.settle()
    expect((await vmOf(vmId)).privateNetworks).toHaveLength(2)
    await comeBack()
    await app.rest()
  })

  test('keeps the networks while the host is not lost', async () => {
    const { vmId, restore } = await given()
    const { privateNetworks } = await vmOf(vmId)
    expect(privateNetworks).toHaveLength(2)
    expect((await restore()).status).toBe(202)
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', privateNetworks })
    expect(await diskOf(app, vmId).read()).toBe('before')
    expect(await told(vmId)).toEqual([])
  })
})
