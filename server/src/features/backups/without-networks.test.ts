// A VM with private networks whose host is lost: the restore succeeds without the networks, or changes nothing.
import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, givenSecondHost, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'

describe('a restore without private networks', async () => {
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
  const nicsOf = async (vmId: string) => (await app.deps.hypervisors.get(app.host.id)).findMachine(vmId, AbortSignal.timeout(5_000))
  const told = (vmId: string) =>
    app.db.many(sql`
      select type, data -> 'network' ->> 'id' as "networkId", data ->> 'actionId' as "actionId" from events
      where subject_id = ${vmId} and type like 'vm.network_%' order by number`)

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

  test('is refused until the request accepts the loss, and changes nothing before', async () => {
    const { vmId, restore } = await given()
    const before = await vmOf(vmId)
    await lose()
    const answer = await restore()
    expect([answer.status, answer.headers['x-error-code'], answer.body.error]).toEqual([
      409,
      'networks_lost',
      'The host of this VM is lost, and its private networks with it: send withoutNetworks: true to bring the VM back without them',
    ])
    expect((await restore({ withoutNetworks: false })).status).toBe(409)
    expect((await restore({ withoutNetworks: 'yes' })).status).toBe(400)
    await comeBack()
    expect(await vmOf(vmId)).toEqual(before)
  })

  test('restores the VM on another host; the stale machine is removed once the first host returns', async () => {
    const { vmId, networkIds, restore } = await given()
    await lose()
    const { status, body } = await restore({ withoutNetworks: true })
    expect(status).toBe(202)
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', privateNetworks: [] })
    expect(await other.drift.readFile(vmId, 'moment')).toBe('before')
    const { actionId } = body.data
    expect(await told(vmId)).toEqual(networkIds.map((networkId) => ({ type: 'vm.network_detached', networkId, actionId })))
    await comeBack()
    await app.rest()
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 2 on second', 'seed 2 on second'])
    await app.checkInvariants()
    for (const networkId of networkIds) expect((await customer.delete(`/networks/${networkId}`)).status).toBe(200)
  })

  test("that fails keeps the VM's networks and addresses", async () => {
    const { vmId, networkIds, restore } = await given()
    const before = await vmOf(vmId)
    await lose()
    await other.faults.fillDisk()
    const { actionId } = (await restore({ withoutNetworks: true })).body.data
    expect((await vmOf(vmId)).privateNetworks).toEqual([])
    await app.settle()
    await other.faults.freeDisk()
    const { status, privateNetworks, ipAddress } = await vmOf(vmId)
    expect({ status, privateNetworks, ipAddress }).toEqual({
      status: 'RUNNING',
      privateNetworks: before.privateNetworks,
      ipAddress: before.ipAddress,
    })
    const each = (type: string) => networkIds.map((networkId) => ({ type, networkId, actionId }))
    expect(await told(vmId)).toEqual([...each('vm.network_detached'), ...each('vm.network_attached')])
    await comeBack()
    await app.rest()
    expect(await diskOf(app, vmId).read()).toBe('after')
    await app.checkInvariants()
  })

  test('that fails detaches networks that were deleted and addresses that were reassigned meanwhile', async () => {
    const { vmId, networkIds, restore } = await given()
    const [deleted, taken] = networkIds as [string, string]
    const { id: otherVm } = await app.given.vm(customer)
    const address = (await vmOf(vmId)).privateNetworks[1].ipAddress
    await lose()
    await other.faults.fillDisk()
    await restore({ withoutNetworks: true })
    await comeBack()
    expect((await customer.delete(`/networks/${deleted}`)).status).toBe(200)
    await app.db.run(sql`update networks set last_address = ${address}::inet - 1 where id = ${taken}`)
    expect((await customer.post(`/vms/${otherVm}/networks`, { networkId: taken })).status).toBe(202)
    await app.settle()
    await other.faults.freeDisk()
    expect((await vmOf(otherVm)).privateNetworks).toMatchObject([{ ipAddress: address }])
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', privateNetworks: [] })
    await app.rest()
    expect((await nicsOf(vmId))?.nics).toHaveLength(1)
    expect(await app.db.many(sql`select from stale_nics`)).toEqual([])
    expect(await app.db.many(sql`select from networks where id = ${deleted}`)).toEqual([])
    await app.checkInvariants()
  })

  test('keeps the networks while the host is not lost', async () => {
    const { vmId, restore } = await given()
    const { privateNetworks } = await vmOf(vmId)
    expect(privateNetworks).toHaveLength(2)
    expect((await restore({ withoutNetworks: true })).status).toBe(202)
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', privateNetworks })
    expect(await diskOf(app, vmId).read()).toBe('before')
    expect(await told(vmId)).toEqual([])
  })
})
