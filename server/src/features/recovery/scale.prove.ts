// A fleet of 200 hosts with 20,000 VMs on replicated storage loses a host a minute, for an hour. All of its VMs are elsewhere within that minute, none
// runs twice, no host is oversold, and a VM takes as much work in the last minutes as in the first.
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, placeOn } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { stopwatch } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { changeRecovery } from '../catalog/service.ts'
import { heartbeat } from '../hosts/heartbeat.reconciler.ts'
import { addPool, listHosts, seedHosts } from '../hosts/service.ts'
import { watchSilence } from '../hosts/silence.reconciler.ts'
import { followLostHosts } from './lost-hosts.reconciler.ts'

const [HOSTS, VMS_PER_HOST, LOSSES] = [200, 100, 60]
/** Of what a VM costs, from the first ten minutes to the last ten. Not of seconds, in which this machine does other things too; a busy one has slower CPUs. */
const MOST_GROWTH = { cpuMs: 2, rowsRead: 1.3 }

interface Cost {
  /** Of this process. */
  cpuMs: number
  /** Of PostgreSQL. */
  rowsRead: number
}

/** The copies of a VM were never ordered, and so not charged for. */
const HISTORY = ['charges.made', 'renewals.paid']

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

test(
  `${HOSTS} hosts with ${HOSTS * VMS_PER_HOST} VMs lose a host a minute`,
  async () => {
    const app = await testApp({ breaks: HISTORY })
    const { db, deps, clock } = app
    await db.run(sql`update catalog_values set value = 1000000000 where name like 'quota.%'`)
    await sellReplicated(app)
    await db.tx((tx) => changeRecovery(tx, 'fra1', { autoRecovery: true, lostAfterSeconds: 10 }))
    const size = { region: 'fra1', driver: 'simulated' as const, uri: '', vcpu: 64, ram: 2 ** 20, disk: 4_000 }
    await db.tx((tx) =>
      seedHosts(
        tx,
        clock.now(),
        Array.from({ length: HOSTS }, (_, number) => ({ ...size, name: `rack${number}` })),
        'simulated',
      ),
    )
    await db.run(sql`update hosts set vcpu_overcommit = 100`)
    await db.tx((tx) =>
      addPool(tx, clock.now(), { regionId: app.host.region_id, hostId: null, cidr: '10.96.0.0/16', gateway: '10.96.0.1', dns: [] }),
    )
    const customer = await app.given.customer({ credit: '100.00' })
    const racks = (await listHosts(db)).filter(({ id }) => id !== app.host.id)
    const { id: first } = await placeOn(app, racks[0]!.id, () => app.given.vm(customer))
    await db.run(sql`update hosts set maintenance = id = ${app.host.id}`)
    await copyVm(first, VMS_PER_HOST)

    const look = async (): Promise<void> => {
      await heartbeat.runOnce(deps)
      await watchSilence.runOnce(deps)
      await followLostHosts.runOnce(deps)
    }
    const onHost = async (hostId: string) =>
      (await db.one<{ count: number }>(sql`select count(*)::int as count from vms where host_id = ${hostId}`)).count
    await look()
    const spent = async (): Promise<Cost> => {
      const { user, system } = process.cpuUsage()
      const { rows } = await db.one<{ rows: number }>(
        sql`select (tup_returned + tup_fetched)::float8 as rows from pg_stat_database where datname = current_database()`,
      )
      return { cpuMs: (user + system) / 1000, rowsRead: rows }
    }
    const costs: Cost[] = []
    for (const [minute, rack] of racks.slice(0, LOSSES).entries()) {
      const [vms, elapsedMs, before, start] = [await onHost(rack.id), stopwatch(), clock.now().getTime(), await spent()]
      await controlOf(app, rack.id).faults.loseHost()
      await look()
      clock.advance('11s')
      for (let pass = 0; pass < 4 && (await onHost(rack.id)) > 0; pass++) {
        await look()
        await app.settle()
        clock.advance('5s')
      }
      await app.settle()
      const end = await spent()
      const cost = { cpuMs: (end.cpuMs - start.cpuMs) / vms, rowsRead: (end.rowsRead - start.rowsRead) / vms }
      costs.push(cost)
      console.log(
        `minute ${minute + 1}: ${vms} VMs of ${rack.name} in ${(elapsedMs() / 1000).toFixed(1)} s, each ${cost.cpuMs.toFixed(1)} ms of CPU and ${Math.round(cost.rowsRead)} rows read`,
      )
      expect([await onHost(rack.id), clock.now().getTime() - before]).toEqual([0, expect.toSatisfy((ms: number) => ms < 60_000)])
      expect(await faults()).toEqual({ twice: 0, off: 0, oversold: 0 })
      clock.set(new Date(before + 60_000))
      await db.raw('vacuum analyze') // as autovacuum does within a minute of its own, which is longer than one here
    }
    const growthOf = (part: keyof Cost): number =>
      median(costs.slice(-10).map((cost) => cost[part])) / median(costs.slice(0, 10).map((cost) => cost[part]))
    const growth = { cpuMs: growthOf('cpuMs'), rowsRead: growthOf('rowsRead') }
    console.log(`the last ten minutes cost as much as the first ten, times ${JSON.stringify(growth)}`)
    expect(growth.cpuMs).toBeLessThan(MOST_GROWTH.cpuMs)
    expect(growth.rowsRead).toBeLessThan(MOST_GROWTH.rowsRead)
    await app.rest()
    expect(await faults()).toEqual({ twice: 0, off: 0, oversold: 0 })
    expect(await db.many(sql`select from simulated.machines m join vms v on v.id = m.vm_id where v.host_id <> m.host_id`)).toEqual([])
    expect(await db.many(sql`select from hosts where fenced_at is not null`)).toEqual([])
    await app.checkInvariants()

    /** `twice`: with two machines that could both write. */
    function faults() {
      return db.one(sql`
        select (select count(*)::int from (
            select vm_id from simulated.machines m where power = 'running' and not exists (
              select from simulated.blocklist b where b.client like m.host_id || ':0/%') group by vm_id having count(*) > 1) d) as twice,
          (select count(*)::int from vms v where not exists (
            select from simulated.machines m where m.vm_id = v.id and m.host_id = v.host_id and m.power = 'running')) as off,
          (select count(*)::int from hosts where vcpu_used > vcpu_total * vcpu_overcommit or ram_used_mib > ram_total_mib) as oversold`)
    }

    /** So many on every rack, in place of as many orders. */
    async function copyVm(vmId: string, perHost: number): Promise<void> {
      const copies = sql`
        select 'c' || md5(h.id || h.number) as id, h.id as host, h.hostname, gen_random_uuid() as uuid, a.address, a.pool_id,
          regexp_replace(md5(h.number || h.id), '^(..)(..)(..)(..)(..).*$', '02:\\1:\\2:\\3:\\4:\\5') as mac
        from (select row_number() over (order by h.name, n.number) as row, h.id, h.hostname, n.number
            from hosts h, generate_series(1, ${perHost}::int) as n(number) where h.name like 'rack%') h
          join (select row_number() over (order by address) as row, address, pool_id from free_addresses where address << '10.96.0.0/16') a using (row)`
      await db.tx(async (tx) => {
        await tx.raw('set local statement_timeout = 0')
        await tx.raw('set local session_replication_role = replica') // skips the checks of foreign keys, which these rows satisfy
        await tx.run(sql`create temp table copies on commit drop as ${copies}`)
        // The subquery is not flattened: each row is made once, not once a column.
        const changed = (table: string, change: string) =>
          tx.raw(`insert into ${table} select (r).* from (
            select jsonb_populate_record(t, ${change}) as r from ${table} t, copies c where t.${keyOf(table)} = '${vmId}' offset 0) s`)
        const keyOf = (table: string): string => (table === 'vms' ? 'id' : table === 'simulated.nics' ? 'machine' : 'vm_id')
        await changed(
          'vms',
          `jsonb_build_object('id', c.id, 'host_id', c.host, 'uuid', c.uuid, 'ip_address', host(c.address), 'address_pool_id', c.pool_id, 'mac', c.mac)`,
        )
        await changed('vm_ports', `jsonb_build_object('vm_id', c.id, 'host_id', c.host)`)
        await changed('simulated.machines', `jsonb_build_object('host_id', c.host, 'name', c.id, 'vm_id', c.id, 'uuid', c.uuid)`)
        await changed('simulated.nics', `jsonb_build_object('host_id', c.host, 'machine', c.id, 'mac', c.mac, 'address', host(c.address))`)
        await changed(
          'simulated.volumes',
          `jsonb_build_object('host_id', c.host, 'name', replace(t.name, '${vmId}', c.id), 'id', c.id, 'vm_id', c.id)`,
        )
        await changed(
          'simulated.ports',
          `jsonb_build_object('host', c.hostname, 'vm_id', c.id, 'mac', c.mac, 'addresses', array[host(c.address)])`,
        )
        await tx.run(sql`delete from free_addresses f using copies c where c.address = f.address`)
        await tx.run(
          sql`insert into simulated.hosts (host_id, disk_total_bytes) select distinct host, 4e12::int8 from copies on conflict do nothing`,
        )
        await tx.run(sql`
          update hosts h set vcpu_used = s.vcpu, ram_used_mib = s.ram from (
            select host_id, sum(vcpu)::int as vcpu, sum(ram_mib)::int as ram from vms group by host_id) s where s.host_id = h.id`)
        await tx.run(sql`
          update account_quotas q set used = s.used from (
            select 'vms' as name, count(*) as used from vms union all select 'vcpu', sum(vcpu) from vms
            union all select 'ram_mib', sum(ram_mib) from vms union all select 'disk_gib', sum(disk_gib) from vms) s where s.name = q.name`)
        await tx.run(sql`update storage_backends set used_gib = (select sum(disk_gib) from vms)`)
        await tx.run(sql`
          update simulated.hosts h set disk_used_bytes = s.bytes from (
            select host_id, sum(size_bytes)::int8 as bytes from simulated.volumes where storage_id is null group by host_id) s where s.host_id = h.host_id`)
      })
      await db.raw('analyze')
    }
  },
  120 * 60_000, // on a machine that has other work
)
