import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost, givenRegion } from '../../../../test/hosts.ts'
import type { Filter } from '../../../hypervisor/driver.ts'
import { addDuration, sleep } from '../../../kernel/clock.ts'
import { sql } from '../../../kernel/database/db.ts'
import { followHostname } from '../../hosts/heartbeat.reconciler.ts'
import { addPool, type HostRow } from '../../hosts/service.ts'
import { createPortState, markPortsApplied, quiescePorts, versionForBoot } from '../../ports/service.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { ensurePorts } from '../model/ports.ts'
import { applyPorts } from './apply-ports.reconciler.ts'
import { watchPorts } from './port-drift.reconciler.ts'

const port = (number: number) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: String(number) })

describe('ports of VMs', async () => {
  const app = await testApp()
  const { deps, db, clock } = app
  await db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  const soon = () => AbortSignal.timeout(5_000)
  const apply = () => applyPorts.runOnce(deps)
  const portsOf = (vmId: string) =>
    db.many<{
      mac: string
      network_id: string | null
      host: string
      limit_mbps: number | null
      addresses: string[]
      filter: Filter | null
    }>(
      sql`select mac, network_id, host, limit_mbps, addresses, filter from simulated.ports where vm_id = ${vmId} order by network_id nulls first`,
    )
  const openPorts = async (vmId: string) => (await portsOf(vmId))[0]?.filter?.rules.map((rule) => rule.ports[0]!.from)
  const versionsOf = (vmId: string) =>
    db.one<{ desired_version: number; applied_version: number | null }>(
      sql`select desired_version, applied_version from vm_ports where vm_id = ${vmId}`,
    )
  /** Number of `ensurePort` calls that the controller has received, counted by a fault that never fires. */
  const countCalls = async (regionId: string) => {
    await controlOf(app, regionId).faults.plant({ verb: 'ensurePort', kind: 'transient', atCall: 1_000 })
    return async () => (await db.one<{ calls: number }>(sql`select calls from simulated.faults where host_id = ${regionId}`)).calls
  }

  let regions = 0
  const givenPlace = async (): Promise<HostRow> => {
    const host = await givenRegion(app, `ports-${++regions}`)
    const range = { cidr: `10.66.${regions}.0/24`, gateway: `10.66.${regions}.1` }
    await db.tx((tx) => addPool(tx, clock.now(), { regionId: host.region_id, hostId: null, ...range, dns: [] }))
    return host
  }
  /** A VM in a region of its own, with an empty firewall bound to it. */
  const given = async (host?: HostRow) => {
    const place = host ?? (await givenPlace())
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'web' })).body.data
    const { id: vmId } = await app.given.vm(customer, { regionId: place.region_id, firewallIds: [firewallId] })
    /** As the steps of a workflow do. */
    const boot = async (): Promise<void> => {
      const version = await versionForBoot(db, clock.now(), vmId)
      await ensurePorts(deps, await getVmRow(db, vmId), soon())
      await db.tx((tx) => markPortsApplied(tx, clock.now(), vmId, version))
    }
    const addRule = (number: number) => customer.post(`/firewalls/${firewallId}/rules`, port(number))
    const state = async () => (await customer.get(`/firewalls/${firewallId}/bindings`)).body.data[0]
    const { faults } = controlOf(app, place.region_id)
    return { host: place, customer, vmId, firewallId: firewallId as string, boot, addRule, state, faults }
  }

  test('are made with the VM: its public one with limit and filter, private ones without', async () => {
    const { host, customer, vmId, addRule } = await given()
    const { id: networkId } = (await customer.post('/networks', { name: 'lan', nodeId: host.id, cidr: '10.0.0.0/24' })).body.data
    await customer.post(`/vms/${vmId}/networks`, { networkId })
    await app.settle({ subjectId: vmId })
    await addRule(22)
    await apply()
    const vm = await getVmRow(db, vmId)
    const empty = { defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }
    expect(await portsOf(vmId)).toMatchObject([
      {
        mac: vm.mac,
        network_id: null,
        host: host.hostname,
        limit_mbps: 1000,
        addresses: [vm.ip_address],
        filter: { ...empty, rules: [{}] },
      },
      { network_id: networkId, host: host.hostname, limit_mbps: null, addresses: ['10.0.0.2'], filter: null },
    ])
  })

  test('have the rules that cover private interfaces on those, from the attachment on and as they change', async () => {
    const { host, customer, vmId, firewallId, addRule } = await given()
    await addRule(22)
    await customer.patch(`/firewalls/${firewallId}`, { coversPrivate: true })
    const { id: networkId } = (await customer.post('/networks', { name: 'lan', nodeId: host.id, cidr: '10.0.0.0/24' })).body.data
    await customer.post(`/vms/${vmId}/networks`, { networkId })
    await app.settle({ subjectId: vmId })
    const ofPrivate = async () => (await portsOf(vmId)).find((each) => each.network_id === networkId)!.filter
    expect(await ofPrivate()).toMatchObject({ defaultInbound: 'DROP', rules: [{ ports: [{ from: 22 }] }] })
    await addRule(80)
    await apply()
    expect(await ofPrivate()).toMatchObject({ rules: [{}, { ports: [{ from: 80 }] }] })
    await customer.patch(`/firewalls/${firewallId}`, { coversPrivate: false })
    await apply()
    expect(await ofPrivate()).toBeNull()
    expect((await customer.get(`/firewalls/${firewallId}`)).body.data.applied).toBe(true)
  })

  test('are left to the create workflow until it has applied the first ones', async () => {
    const place = await givenPlace()
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'web' })).body.data
    const input = { regionId: place.region_id, firewallIds: [firewallId] }
    const { id: vmId } = await app.given.vm(customer, input, { settled: false })
    await customer.post(`/firewalls/${firewallId}/rules`, port(22))
    await apply()
    expect(await portsOf(vmId)).toEqual([])
    await app.settle({ subjectId: vmId })
    const [state] = (await customer.get(`/firewalls/${firewallId}/bindings`)).body.data
    expect(state).toMatchObject({ applied: true, state: 'APPLIED', appliedAt: clock.now().toISOString(), error: null })
    expect(await openPorts(vmId)).toEqual([22])
  })

  test('follow a rule change', async () => {
    const { vmId, addRule, state, customer, firewallId } = await given()
    await addRule(22)
    expect(await state()).toMatchObject({ applied: false, state: 'PENDING' })
    expect((await customer.get(`/firewalls/${firewallId}`)).body.data.applied).toBe(false)
    await apply()
    expect(await openPorts(vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true })
    expect((await customer.get(`/firewalls/${firewallId}`)).body.data.applied).toBe(true)
  })

  test('are applied once for a burst of changes', async () => {
    const { host, vmId, addRule } = await given()
    const calls = await countCalls(host.region_id)
    for (let number = 1; number <= 10; number++) await addRule(number)
    await apply()
    expect(await openPorts(vmId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await calls()).toBe(1)
  })

  test('alternate between accounts, so that one VM does not wait for all VMs of another account', async () => {
    const many = await given()
    const { firewallId, customer } = many
    for (let vms = 0; vms < 38; vms++)
      await app.given.vm(customer, { regionId: many.host.region_id, firewallIds: [firewallId] }, { settled: false })
    await app.settle()
    const single = await given(many.host) // the last one otherwise
    await db.run(sql`update vm_ports set desired_version = desired_version + 1 where account_id = ${customer.accountId}`)
    await db.run(sql`update vm_ports set desired_version = desired_version + 1 where vm_id = ${single.vmId}`)
    await db.run(sql`update simulated.ports set limit_mbps = 1 where region_id = ${many.host.region_id}`)
    await apply()
    const done = await db.many<{ vm_id: string; limit_mbps: number }>(
      sql`select vm_id, limit_mbps from simulated.ports where region_id = ${many.host.region_id} order by xmin::text::bigint`,
    )
    expect(done.map((row) => row.vm_id).indexOf(single.vmId)).toBeLessThan(32) // of the first that are applied at once
    expect(done.map((row) => row.limit_mbps)).toEqual(Array(40).fill(1000))
  })

  test('take turns where their filters are long: one of an account at a time, and then others have as long', async () => {
    const { host, customer, vmId, firewallId } = await given()
    const small = await given(host)
    const sourceIps = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`)
    const ids = [firewallId]
    for (let i = 0; i < 2; i++) ids.push((await customer.post('/firewalls', { name: 'more' })).body.data.id)
    const orders = [ids, ids.toReversed(), [ids[1]!, ids[0]!, ids[2]!]]
    const vms: string[] = []
    for (const firewallIds of [...orders, ids]) vms.push((await app.given.vm(customer, { regionId: host.region_id, firewallIds })).id)
    const rules = [{ ...port(22), sourceIps }]
    for (const id of ids) await customer.put(`/firewalls/${id}/rules`, { rules })
    await small.addRule(22)

    const MS = 200
    const controller = await deps.networkControllers.get(host.region_id)
    const calls: { vmId: string; from: number; to: number }[] = []
    const ensurePort: typeof controller.ensurePort = async (spec, ...rest) => {
      const from = performance.now()
      if (spec.vmId !== small.vmId) await sleep(MS)
      await controller.ensurePort(spec, ...rest)
      calls.push({ vmId: spec.vmId, from, to: performance.now() })
    }
    const slow = { ...deps, networkControllers: { ...deps.networkControllers, get: async () => ({ ...controller, ensurePort }) } }
    await applyPorts.keyed!.runOnce(slow, host.id, new AbortController().signal)

    const long = calls.filter((call) => vms.includes(call.vmId)).toSorted((a, b) => a.from - b.from)
    expect(long.map((call) => call.vmId).toSorted()).toEqual(vms.toSorted())
    // Those with the same firewalls in the same order share a filter, and are applied at once.
    const rounds = [
      long.filter((call) => [vms[0], vms[3]].includes(call.vmId)),
      ...[vms[1], vms[2]].map((id) => long.filter((call) => call.vmId === id)),
    ]
    const spans = rounds
      .map((round) => ({ from: Math.min(...round.map((call) => call.from)), to: Math.max(...round.map((call) => call.to)) }))
      .toSorted((a, b) => a.from - b.from)
    for (const [i, span] of spans.slice(1).entries()) expect(span.from - spans[i]!.to).toBeGreaterThanOrEqual(MS * 0.9)
    expect(calls.find((call) => call.vmId === small.vmId)!.to).toBeLessThan(spans[1]!.from)
    expect(
      await db.many(
        sql`select from vm_ports where account_id = ${customer.accountId} and applied_version is distinct from desired_version`,
      ),
    ).toEqual([])
    expect(await openPorts(vmId)).toEqual([22])
  })

  test('wait for an unreachable controller and report the error', async () => {
    const { vmId, addRule, state, faults } = await given()
    await faults.loseHost()
    expect((await addRule(22)).status).toBe(201)
    await apply()
    expect(await state()).toEqual({
      firewallId: expect.any(String),
      vmId,
      applied: false,
      state: 'FAILED',
      appliedAt: expect.any(String),
      error: expect.stringContaining('unreachable'),
      nextTryAt: addDuration(clock.now(), '10s').toISOString(),
    })
    await faults.returnHost()
    await apply()
    expect(await state()).toMatchObject({ applied: false })
    clock.advance('10s')
    await apply()
    expect(await openPorts(vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true, error: null })
  })

  test.each(['transient', 'halfway', 'lost_answer', 'permanent'] as const)('are applied after a %s failure', async (kind) => {
    const { vmId, addRule, state, faults } = await given()
    await faults.plant({ verb: 'ensurePort', kind })
    await addRule(22)
    await apply()
    expect(await state()).toMatchObject({ applied: false, error: expect.any(String) })
    clock.advance('60s')
    await apply()
    expect(await openPorts(vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true, error: null })
  })

  test('on a hanging host do not block other hosts', async () => {
    const [hanging, fine] = [await given(), await given()]
    await hanging.faults.plant({ verb: 'ensurePort', kind: 'hang' })
    await hanging.addRule(22)
    await fine.addRule(22)
    const stopping = new AbortController()
    const lanes = applyPorts.keyed!
    const stuck = lanes.runOnce(deps, hanging.host.id, stopping.signal)
    await lanes.runOnce(deps, fine.host.id, stopping.signal)
    expect(await openPorts(fine.vmId)).toEqual([22])
    await expect.poll(() => db.maybe(sql`select from simulated.faults where host_id = ${hanging.host.region_id}`)).toBeUndefined() // the call hangs
    stopping.abort()
    await stuck
    expect(await hanging.state()).toMatchObject({ applied: false, error: null })
    await apply()
    expect(await openPorts(hanging.vmId)).toEqual([22])
  })

  test('are made again together with their network when that is missing', async () => {
    const { host, customer, vmId } = await given()
    const { id: networkId } = (await customer.post('/networks', { name: 'lan', nodeId: host.id, cidr: '10.0.0.0/24' })).body.data
    await customer.post(`/vms/${vmId}/networks`, { networkId })
    await app.settle({ subjectId: vmId })
    const before = await portsOf(vmId)
    await db.run(sql`delete from simulated.ports where vm_id = ${vmId}`)
    await db.run(sql`delete from simulated.networks where network_id = ${networkId}`)
    await watchPorts.runOnce(deps)
    await apply()
    expect(await portsOf(vmId)).toEqual(before)
  })

  test('are up to date after a workflow and the reconciler wrote concurrently', async () => {
    const { vmId, addRule, boot, state } = await given()
    await addRule(22)
    const applying = apply()
    await boot()
    await addRule(23)
    await applying
    await apply()
    expect(await state()).toMatchObject({ applied: true })
    const { desired_version, applied_version } = await versionsOf(vmId)
    expect(applied_version).toBe(desired_version)
  })

  test('of an older version are applied again', async () => {
    const { vmId, addRule } = await given()
    const { desired_version } = await versionsOf(vmId)
    await addRule(22)
    await apply()
    await db.run(sql`update simulated.ports set filter = '{"rules": []}' where vm_id = ${vmId}`)
    await db.tx((tx) => markPortsApplied(tx, clock.now(), vmId, desired_version))
    await apply()
    expect(await openPorts(vmId)).toEqual([22])
  })

  test('are claimed from a crashed process after its claim expires', async () => {
    const { vmId, addRule } = await given()
    await addRule(22)
    await db.run(sql`update vm_ports set claimed_until = ${addDuration(clock.now(), '30s')} where vm_id = ${vmId}`)
    await apply()
    expect(await openPorts(vmId)).toEqual([])
    clock.advance('30s')
    await apply()
    expect(await openPorts(vmId)).toEqual([22])
  })

  test('are never applied again after quiescePorts', async () => {
    const { vmId, addRule } = await given()
    await addRule(22)
    const applying = apply()
    await quiescePorts(deps, vmId, soon())
    await db.run(sql`delete from simulated.ports where vm_id = ${vmId}`)
    await applying
    await addRule(23)
    await watchPorts.runOnce(deps)
    await apply()
    expect(await portsOf(vmId)).toEqual([])
    await db.run(sql`update vm_ports set is_managed = true where vm_id = ${vmId}`)
  })

  test('are left to the workflow on the new host of a VM until it has applied the first ones', async () => {
    const { host, vmId, customer, addRule, boot, state } = await given()
    const other = await givenHost(app, `moved-${regions}`, `ports-${regions}`)
    const moveTo = (hostId: string) =>
      db.tx(async (tx) => {
        await tx.run(sql`update vms set host_id = ${hostId} where id = ${vmId}`)
        await createPortState(tx, vmId, hostId, customer.accountId)
      })
    await moveTo(other.id)
    expect(await state()).toMatchObject({ applied: false })
    await addRule(22)
    await apply()
    expect(await portsOf(vmId)).toMatchObject([{ host: host.hostname, filter: { rules: [] } }])
    await boot()
    expect(await portsOf(vmId)).toMatchObject([{ host: other.hostname, filter: { rules: [{}] } }])
    await moveTo(host.id)
    await boot()
  })

  test('follow the hostname of their host', async () => {
    const { host, vmId } = await given()
    const { desired_version } = await versionsOf(vmId)
    await followHostname(db, host.id, host.hostname)
    expect(await versionsOf(vmId)).toMatchObject({ desired_version })
    await followHostname(db, host.id, 'renamed.example')
    await apply()
    expect(await portsOf(vmId)).toMatchObject([{ host: 'renamed.example' }])
  })
})
