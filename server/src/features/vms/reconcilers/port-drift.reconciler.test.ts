// What the network controller of a region has beside what the database says: missing ports are made again, extra ones removed.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import type { Port } from '../../../hypervisor/network-controller.ts'
import { json, sql } from '../../../kernel/database/db.ts'
import { unmanage } from '../operator/manage.ts'
import { applyPorts } from './apply-ports.reconciler.ts'
import { pagesOf, watchPorts } from './port-drift.reconciler.ts'

describe('ports that differ from the database', async () => {
  const app = await testApp()
  const { db, deps } = app
  await db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '1000.00' })
  let networks = 0

  const all = () =>
    db.many(sql`select mac, vm_id, network_id, host, limit_mbps, addresses, filter, version from simulated.ports order by mac`)
  const portsOf = (vmId: string) => db.many<{ mac: string }>(sql`select mac from simulated.ports where vm_id = ${vmId} order by network_id`)
  /** A VM in one private network. */
  const given = async (): Promise<{ vmId: string; networkId: string }> => {
    const network = { name: 'lan', nodeId: app.host.id, cidr: `10.9.${++networks}.0/24` }
    const { id: networkId } = (await customer.post('/networks', network)).body.data
    const { id: vmId } = await app.given.vm(customer, { privateNetworkIds: [networkId] })
    return { vmId, networkId }
  }
  const plant = async (vmId: string, mac: string): Promise<void> => {
    const port = { vmId, mac, networkId: null, addresses: ['10.77.9.9'], ranges: [], host: 'local', limitMbps: null, filter: null }
    await (await deps.networkControllers.get(app.host.region_id)).ensurePort(port, AbortSignal.timeout(5_000))
  }
  const repair = async (): Promise<void> => {
    await watchPorts.runOnce(deps)
    await applyPorts.runOnce(deps)
  }

  test.each([
    ['was removed by hand', sql`delete from simulated.ports where vm_id = `],
    ['has another host', sql`update simulated.ports set host = 'elsewhere' where vm_id = `],
    ['has another limit', sql`update simulated.ports set limit_mbps = 1 where vm_id = `],
    ['has no limit', sql`update simulated.ports set limit_mbps = null where vm_id = `],
    ['is in another network', sql`update simulated.ports set network_id = null where vm_id = `],
  ])('are made right when one %s', async (_, change) => {
    const { vmId } = await given()
    const before = await all()
    await db.run(sql`${change} ${vmId}`)
    expect(await all()).not.toEqual(before)
    await repair()
    expect(await all()).toEqual(before)
  })

  test('are made right when the controller has lost a change', async () => {
    const { vmId } = await given()
    const old = await all()
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'web' })).body.data
    await customer.post(`/firewalls/${firewallId}/bindings`, { vmId })
    await applyPorts.runOnce(deps)
    const before = await all()
    expect(before).not.toEqual(old)
    await db.run(sql`
      update simulated.ports p set filter = o.filter, version = o.version
      from jsonb_populate_recordset(null::simulated.ports, ${json(old)}::jsonb) o where o.mac = p.mac`)
    expect(await all()).toEqual(old)
    await repair()
    expect(await all()).toEqual(before)
  })

  test('are not applied again when nothing differs', async () => {
    const { vmId } = await given()
    const versions = () => db.one(sql`select desired_version, applied_version from vm_ports where vm_id = ${vmId}`)
    const before = await versions()
    await watchPorts.runOnce(deps)
    expect(await versions()).toEqual(before)
  })

  test('are removed when no VM has them', async () => {
    const { vmId } = await given()
    const before = await all()
    await plant('cnowhere', '02:00:00:00:00:01')
    await plant(vmId, '02:00:00:00:00:02') // an interface that it does not have
    expect(await all()).toHaveLength(before.length + 2)
    await repair()
    expect(await all()).toEqual(before)
  })

  test('of a VM with an open action are left to the action', async () => {
    const { vmId } = await given()
    await plant(vmId, '02:00:00:00:00:03')
    await db.run(sql`delete from simulated.ports where vm_id = ${vmId} and network_id is not null`)
    await customer.post(`/vms/${vmId}/stop`)
    await repair()
    expect(await portsOf(vmId)).toHaveLength(2)
    expect((await portsOf(vmId)).map(({ mac }) => mac)).toContain('02:00:00:00:00:03')
    await app.settle({ subjectId: vmId })
    await repair()
    const macs = (await portsOf(vmId)).map(({ mac }) => mac)
    expect([macs.length, macs.includes('02:00:00:00:00:03')]).toEqual([2, false])
  })

  test('of an unmanaged VM stay as they are', async () => {
    const { vmId } = await given()
    await db.tx((tx) => unmanage(tx, deps, vmId))
    await db.run(sql`update simulated.ports set limit_mbps = 5 where vm_id = ${vmId}`)
    const before = await all()
    await repair()
    expect(await all()).toEqual(before)
  })

  test('are gone with the VM, with a detached interface, and after a failed create', async () => {
    const { vmId, networkId } = await given()
    const before = await portsOf(vmId)
    expect(before).toHaveLength(2)
    await customer.delete(`/vms/${vmId}/networks/${networkId}`)
    await app.settle({ subjectId: vmId })
    expect(await portsOf(vmId)).toHaveLength(1)
    await customer.post(`/vms/${vmId}/networks`, { networkId })
    await app.settle({ subjectId: vmId })
    expect(await portsOf(vmId)).toHaveLength(2)
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    expect(await portsOf(vmId)).toEqual([])
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
    const { id: failed } = await app.given.vm(customer, { privateNetworkIds: [networkId] })
    expect((await customer.get(`/vms/${failed}`)).body.data.status).toBe('ERROR')
    expect(await portsOf(failed)).toEqual([])
  })
})

test('ports are compared in pages that cover every address once', () => {
  const ports = ['02:00:00:00:00:03', '02:00:00:00:00:01', '02:00:00:00:00:02'].map((mac) => ({ mac }) as Port)
  const pages = (size: number) =>
    [...pagesOf(ports, size)].map((page) => [page.after, page.ports.map(({ mac }) => mac.at(-1)).join(''), page.until])
  const [first, last] = ['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff']
  expect(pages(2)).toEqual([
    [first, '12', '02:00:00:00:00:02'],
    ['02:00:00:00:00:02', '3', last],
  ])
  expect(pages(3)).toEqual([[first, '123', last]])
  expect([...pagesOf([], 2)]).toEqual([{ ports: [], after: first, until: last }])
})
