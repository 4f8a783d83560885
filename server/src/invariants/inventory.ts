// The inventory of hosts and of network controllers in temporary tables, so that one query can join it with ours and memory use does not grow
// with the fleet. Unreachable ones are skipped.
import type { Machine, Volume } from '../hypervisor/driver.ts'
import type { DriverPool } from '../hypervisor/driver-pool.ts'
import type { Port } from '../hypervisor/network-controller.ts'
import type { NetworkControllerPool } from '../hypervisor/network-controller-pool.ts'
import { sql, type Sql, type Tx } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'

/** Shorter than idle_in_transaction_session_timeout. */
const TIMEOUT_MS = 50_000
const BATCH = 500

export interface Host {
  id: string
  name: string
}

export interface Region {
  id: string
  slug: string
}

type List<Item> = AsyncIterable<Item> | Item[]

export interface HostInventory extends Host {
  machines: List<Machine>
  volumes: List<Volume>
}

export interface RegionInventory extends Region {
  networks: List<{ networkId: string }>
  ports: List<Port>
}

export interface InventoryDeps {
  hypervisors: DriverPool
  networkControllers: NetworkControllerPool
  log: Log
}

/** Returns the hosts and regions whose inventory was loaded. */
export async function loadInventories(
  tx: Tx,
  { hypervisors, networkControllers, log }: InventoryDeps,
  stopping?: AbortSignal,
): Promise<{ hosts: Host[]; regions: Region[] }> {
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(stopping ? [stopping] : [])])
  await createTables(tx)
  const hosts = await tx.many<Host>(sql`select id, name from hosts where removed_at is null order by name`)
  const regions = await tx.many<Region>(sql`
    select id, slug from regions r where exists (select from hosts h where h.region_id = r.id and h.removed_at is null) order by slug`)
  const loaded = await Promise.all([
    reachable(
      hosts,
      async (host) => {
        const driver = await hypervisors.get(host.id)
        await recordHost(tx, { ...host, machines: driver.listMachines(signal), volumes: driver.listVolumes(signal) })
      },
      (err, { name }) => log.info({ err, host: name }, 'host skipped in invariant check: unreachable'),
    ),
    reachable(
      regions,
      async (region) => {
        const controller = await networkControllers.get(region.id)
        await recordRegion(tx, { ...region, networks: controller.listNetworks(signal), ports: controller.listPorts(signal) })
      },
      (err, { slug }) => log.info({ err, region: slug }, 'region skipped in invariant check: its network controller is unreachable'),
    ),
  ])
  // Each host is asked for its own.
  await tx.raw('create index on found_machines (host_id); create index on found_volumes (host_id)')
  await tx.raw('analyze found_machines, found_volumes, found_networks, found_ports')
  return { hosts: loaded[0], regions: loaded[1] }
}

async function reachable<Place>(
  places: Place[],
  load: (place: Place) => Promise<void>,
  onError: (error: unknown, place: Place) => void,
): Promise<Place[]> {
  const answered = places.map((place) =>
    load(place).then(
      () => [place],
      (error: unknown) => {
        onError(error, place)
        return []
      },
    ),
  )
  return (await Promise.all(answered)).flat()
}

const MACHINE = sql`"vmId" text, "accountId" text, uuid text, generation int, "rescueGeneration" int, power text, vcpu int, "ramMiB" int, nics jsonb, volumes text[], "isoId" text`
const MACHINE_COLUMNS = sql`"vmId", "accountId", uuid, generation, "rescueGeneration", power, vcpu, "ramMiB", nics, volumes, "isoId"`
const VOLUME = sql`kind text, id text, "vmId" text, generation int, complete boolean, "capacityBytes" bigint, "storageId" text`
const VOLUME_COLUMNS = sql`kind, id, "vmId", generation, complete, "capacityBytes", "storageId"`
const NETWORK = sql`"networkId" text`
const PORT = sql`"vmId" text, mac macaddr, "networkId" text, host text, "limitMbps" int`
const PORT_COLUMNS = sql`"vmId", mac, "networkId", host, "limitMbps"`

export async function createTables(tx: Tx): Promise<void> {
  await tx.run(sql`create temporary table found_machines (host_id text, ${MACHINE}) on commit drop`)
  await tx.run(sql`create temporary table found_volumes (host_id text, ${VOLUME}) on commit drop`)
  await tx.run(sql`create temporary table found_networks (region_id text, ${NETWORK}) on commit drop`)
  await tx.run(sql`create temporary table found_ports (region_id text, ${PORT}) on commit drop`)
}

const found = (id: string, items: unknown[], columns: Sql, types: Sql): Sql =>
  sql`select ${id}::text, ${columns} from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as f(${types})`

/** Machines without our ids belong to the operator. */
export async function recordHost(tx: Tx, { id, machines, volumes }: HostInventory): Promise<void> {
  for await (const batch of batches(machines))
    await tx.run(sql`insert into found_machines ${found(id, batch, MACHINE_COLUMNS, MACHINE)} where f."vmId" is not null`)
  for await (const batch of batches(volumes)) await tx.run(sql`insert into found_volumes ${found(id, batch, VOLUME_COLUMNS, VOLUME)}`)
}

export async function recordRegion(tx: Tx, { id, networks, ports }: RegionInventory): Promise<void> {
  for await (const batch of batches(networks)) await tx.run(sql`insert into found_networks ${found(id, batch, sql`"networkId"`, NETWORK)}`)
  for await (const batch of batches(ports)) await tx.run(sql`insert into found_ports ${found(id, batch, PORT_COLUMNS, PORT)}`)
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

/** Remains of the VM on this host, from a run that failed while the host was lost, or of a guest that proves a backup; a reconciler removes or
 *  repairs them. */
export const isStale = ({ id }: Pick<Host, 'id'>, vmId: Sql): Sql =>
  sql`(exists (select from stale_machines l where l.host_id = ${id} and l.vm_id = ${vmId})
    or exists (select from backup_proofs l where l.host_id = ${id} and l.id = ${vmId}))`

export const machinesOf = ({ id }: Host): Sql => sql`(select ${MACHINE_COLUMNS} from found_machines where host_id = ${id}) m`
export const volumesOf = ({ id }: Host): Sql => sql`(select ${VOLUME_COLUMNS} from found_volumes where host_id = ${id}) f`
export const networksOf = ({ id }: Region): Sql => sql`(select "networkId" from found_networks where region_id = ${id}) w`
export const portsOf = ({ id }: Region): Sql => sql`(select ${PORT_COLUMNS} from found_ports where region_id = ${id}) p`
