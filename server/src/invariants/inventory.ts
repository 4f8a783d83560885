// The inventory of hosts in temporary tables, so that one query can join it with ours and memory use does not grow with the fleet.
// Unreachable hosts are skipped.
import type { Machine, Network, Volume } from '../hypervisor/driver.ts'
import type { DriverPool } from '../hypervisor/driver-pool.ts'
import { sql, type Sql, type Tx } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'

/** Shorter than idle_in_transaction_session_timeout. */
const TIMEOUT_MS = 50_000
const BATCH = 500

export interface Host {
  id: string
  name: string
  /** Whether its kernel can shape traffic. */
  canShapeTraffic: boolean
}

type List<Item> = AsyncIterable<Item> | Item[]

export interface HostInventory extends Host {
  machines: List<Machine>
  volumes: List<Volume>
  networks: List<Network>
  filters: List<{ vmId: string }>
}

export interface InventoryDeps {
  hypervisors: DriverPool
  log: Log
}

/** Returns the hosts whose inventory was loaded. */
export async function loadInventories(tx: Tx, { hypervisors, log }: InventoryDeps, stopping?: AbortSignal): Promise<Host[]> {
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(stopping ? [stopping] : [])])
  await createTables(tx)
  const hosts = await tx.many<Pick<Host, 'id' | 'name'>>(sql`select id, name from hosts where removed_at is null order by name`)
  const recorded = hosts.map(async (host) => {
    try {
      const inventory = await inventoryOf(hypervisors, host, signal)
      await recordInventory(tx, inventory)
      return [{ ...host, canShapeTraffic: inventory.canShapeTraffic }]
    } catch (error) {
      log.info({ err: error, host: host.name }, 'host skipped in invariant check: unreachable')
      return []
    }
  })
  const answered = (await Promise.all(recorded)).flat()
  await tx.raw('analyze found_machines, found_volumes, found_networks, found_filters')
  return answered
}

async function inventoryOf(hypervisors: DriverPool, host: Pick<Host, 'id' | 'name'>, signal: AbortSignal): Promise<HostInventory> {
  const driver = await hypervisors.get(host.id)
  return {
    ...host,
    canShapeTraffic: (await driver.facts(signal)).canShapeTraffic,
    machines: driver.listMachines(signal),
    volumes: driver.listVolumes(signal),
    networks: driver.listNetworks(signal),
    filters: driver.listFilters(signal),
  }
}

const MACHINE = sql`"vmId" text, "accountId" text, uuid text, generation int, power text, vcpu int, "ramMiB" int, nics jsonb`
const MACHINE_COLUMNS = sql`"vmId", "accountId", uuid, generation, power, vcpu, "ramMiB", nics`
const VOLUME = sql`kind text, id text, "vmId" text, generation int, complete boolean`
const VOLUME_COLUMNS = sql`kind, id, "vmId", generation, complete`
const NETWORK = sql`"networkId" text, cidr text, gateway text, "enableSnat" boolean, "enableDhcp" boolean`
const NETWORK_COLUMNS = sql`"networkId", cidr, gateway, "enableSnat", "enableDhcp"`
const FILTER = sql`"vmId" text`

export async function createTables(tx: Tx): Promise<void> {
  await tx.run(sql`create temporary table found_machines (host_id text, ${MACHINE}) on commit drop`)
  await tx.run(sql`create temporary table found_volumes (host_id text, ${VOLUME}) on commit drop`)
  await tx.run(sql`create temporary table found_networks (host_id text, ${NETWORK}) on commit drop`)
  await tx.run(sql`create temporary table found_filters (host_id text, ${FILTER}) on commit drop`)
}

/** Machines without our ids belong to the operator. */
export async function recordInventory(tx: Tx, { id, machines, volumes, networks, filters }: HostInventory): Promise<void> {
  const found = (items: unknown[], columns: Sql, types: Sql): Sql =>
    sql`select ${id}::text, ${columns} from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as f(${types})`
  for await (const batch of batches(machines))
    await tx.run(sql`insert into found_machines ${found(batch, MACHINE_COLUMNS, MACHINE)} where f."vmId" is not null`)
  for await (const batch of batches(volumes)) await tx.run(sql`insert into found_volumes ${found(batch, VOLUME_COLUMNS, VOLUME)}`)
  for await (const batch of batches(networks)) await tx.run(sql`insert into found_networks ${found(batch, NETWORK_COLUMNS, NETWORK)}`)
  for await (const batch of batches(filters)) await tx.run(sql`insert into found_filters ${found(batch, sql`"vmId"`, FILTER)}`)
}

async function* batches<Item>(items: List<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    if (batch.push(item) < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Remains of the VM on this host, from a run that failed while the host was lost; a reconciler removes or repairs them. */
export const isStale = ({ id }: Pick<Host, 'id'>, vmId: Sql): Sql =>
  sql`exists (select from stale_machines l where l.host_id = ${id} and l.vm_id = ${vmId})`

export const machinesOf = ({ id }: Host): Sql => sql`(select ${MACHINE_COLUMNS} from found_machines where host_id = ${id}) m`
export const volumesOf = ({ id }: Host): Sql => sql`(select ${VOLUME_COLUMNS} from found_volumes where host_id = ${id}) f`
export const networksOf = ({ id }: Host): Sql => sql`(select ${NETWORK_COLUMNS} from found_networks where host_id = ${id}) w`
export const filtersOf = ({ id }: Host): Sql => sql`(select "vmId" from found_filters where host_id = ${id}) f`
