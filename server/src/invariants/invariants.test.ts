// Tests the checker: one violation of each invariant is created, and each must be reported under its name.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/harness.ts'
import { violationSetups, type ViolationSetup, type ViolationFixture } from '../../test/invariant-violations.ts'
import { generateKey } from '../../test/openssh-keys.ts'
import { collect } from '../hypervisor/conformance/fixture.ts'
import { sql, type Sql } from '../kernel/database/db.ts'
import { checkInvariants, formatFailures } from './check.ts'
import { invariants } from './index.ts'
import type { Invariant, Violation } from './invariant.ts'
import { createTables, recordHost, recordRegion } from './inventory.ts'
import { createInvariantMonitor } from './monitor.ts'

/** Carries the result out of a transaction that is rolled back. */
class Found extends Error {
  readonly violations: Violation[]
  constructor(violations: Violation[]) {
    super('rolled back on purpose')
    this.violations = violations
  }
}

describe('invariants', async () => {
  const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })
  const fixture = await givenFixture()
  const inventory = await givenInventory()

  async function givenFixture(): Promise<Omit<ViolationFixture, 'host' | 'region'>> {
    const customer = await app.given.customer({ credit: '100.00' })
    const other = await app.given.customer({ credit: '100.00' })
    const made = async (path: string, body: object): Promise<{ id: string }> => (await customer.post(path, body)).body.data
    const events = ['vm.created', 'vm.stopped']
    const webhook = await made('/webhooks', { url: 'http://127.0.0.1:9/', events })
    const network = await made('/networks', { name: 'inside', nodeId: app.host.id, cidr: '10.9.0.0/24' })
    const firewall = await made('/firewalls', { name: 'web' })
    const key = await made('/ssh-keys', { name: 'laptop', publicKey: generateKey().line })
    app.clock.advance('1m')
    const extras = { privateNetworkIds: [network.id], firewallIds: [firewall.id], sshKeyIds: [key.id] }
    const { id: vmId } = await app.given.vm(customer, extras)
    const { id: otherVmId } = await app.given.vm(other)
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'before' })).body.data
    await app.settle()
    const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'weekly' })).body.data
    await app.rest()
    const ids = {
      networkId: network.id,
      firewallId: firewall.id,
      keyId: key.id,
      webhookId: webhook.id,
      snapshotId: snapshot.id,
      backupId: backup.id,
    }
    return { accountId: customer.accountId, otherAccountId: other.accountId, vmId, otherVmId, ...ids, now: app.clock.now() }
  }

  async function givenInventory(): Promise<Pick<ViolationFixture, 'host' | 'region'>> {
    const driver = await app.deps.hypervisors.get(app.host.id)
    const controller = await app.deps.networkControllers.get(app.host.region_id)
    const { signal } = new AbortController()
    const [machines, volumes] = [await collect(driver.listMachines(signal)), await collect(driver.listVolumes(signal))]
    const [networks, ports] = [await collect(controller.listNetworks(signal)), await collect(controller.listPorts(signal))]
    return {
      host: { id: app.host.id, name: app.host.name, machines, volumes },
      region: { id: app.host.region_id, slug: 'fra1', networks, ports },
    }
  }

  const foundAfter = async ({ find }: Invariant, plant: ViolationSetup): Promise<Violation[]> => {
    const { host, region } = structuredClone(inventory)
    const trial = app.db.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`) // disables foreign keys and triggers
      for (const statement of plant({ ...fixture, host, region })) await tx.run(statement)
      await createTables(tx)
      await recordHost(tx, host)
      await recordRegion(tx, region)
      throw new Found(await find({ db: tx, now: fixture.now, since: new Date(0), hosts: [host], regions: [region] }))
    })
    const outcome = await trial.catch((error: unknown) => error)
    if (!(outcome instanceof Found)) throw outcome
    return outcome.violations
  }

  test('hold when nothing is running', async () => {
    expect(formatFailures(await checkInvariants(app.deps))).toBe('')
  })

  test.each(invariants.map((each) => ({ each, name: each.name, promise: each.statement })))('$name: $promise', async ({ each, name }) => {
    const plant = violationSetups[name]
    if (!plant) throw new Error(`No violation of ${name} is defined: add it to test/invariant-violations.ts`)
    const violations = await foundAfter(each, plant)
    expect(violations.length).toBeGreaterThan(0)
    for (const { id, what } of violations) expect([id, what]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
  })

  test.each([
    ['limit', { limitMbps: 1 }],
    ['host', { host: 'elsewhere' }],
    ['network', { networkId: 'cnowhere' }],
  ])('are violated by ports with another %s', async (_, change) => {
    const present = invariants.find(({ name }) => name === 'ports.present')!
    const differ: ViolationSetup = ({ region, vmId }) => {
      for (const port of region.ports) if (port.vmId === vmId) Object.assign(port, change)
      return []
    }
    expect(await foundAfter(present, differ)).toMatchObject([{ id: fixture.vmId }, { id: fixture.vmId }])
  })

  test('ignore an interface that is about to be detached, and no other', async () => {
    const leave = (mac: Sql): Sql =>
      sql`insert into stale_nics (host_id, vm_id, mac) select ${app.host.id}, a.vm_id, ${mac} from network_attachments a where a.vm_id = ${fixture.vmId}`
    const lose: ViolationSetup = ({ vmId }) => [leave(sql`a.mac`), sql`delete from network_attachments where vm_id = ${vmId}`]
    const beside: ViolationSetup = ({ vmId }) => [
      leave(sql`'52:54:00:00:00:09'::macaddr`),
      sql`delete from network_attachments where vm_id = ${vmId}`,
    ]
    for (const name of ['nics.attached', 'nics.leases']) {
      const each = invariants.find((one) => one.name === name)!
      expect([name, await foundAfter(each, lose)]).toEqual([name, []])
      expect(await foundAfter(each, beside)).toHaveLength(1)
      expect(await foundAfter(each, (planted) => [leave(sql`a.mac`), ...violationSetups[name]!(planted)])).not.toEqual([])
    }
  })

  test('ignore a machine that is about to be repaired', async () => {
    const leave: ViolationSetup = ({ vmId }) => [
      sql`insert into stale_machines (host_id, vm_id, next_attempt_at) values (${app.host.id}, ${vmId}, ${app.clock.now()})`,
    ]
    for (const name of ['machines.power', 'machines.definition']) {
      const each = invariants.find((one) => one.name === name)!
      expect([name, await foundAfter(each, (planted) => [...leave(planted), ...violationSetups[name]!(planted)])]).toEqual([name, []])
    }
  })

  test('are checked against the hosts', async () => {
    await app.simulated.drift.stopMachine(fixture.otherVmId, 'guest')
    const broken = await checkInvariants(app.deps)
    expect(broken).toMatchObject([{ invariant: 'machines.power', violations: [{ id: fixture.otherVmId }] }])
  })

  test('are reported after their settle time, or immediately when one commit decides', async () => {
    const watch = createInvariantMonitor(0)
    const reported = async (): Promise<string[]> => {
      await watch(app.deps)
      const { values } = await app.deps.metrics.violations.get()
      return values.filter(({ value }) => value > 0).map(({ labels }) => String(labels['invariant']))
    }
    await app.db.run(sql`update hosts set vcpu_used = vcpu_used + 1`)
    expect(await reported()).toEqual(['hosts.capacity'])
    app.clock.advance('5m')
    expect(await reported()).toEqual(['hosts.capacity', 'machines.power'])
    await app.db.run(sql`update hosts set vcpu_used = vcpu_used - 1`)
    await app.rest()
    expect(await reported()).toEqual([])
  })
})
