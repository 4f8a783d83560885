// What hosts have, as JSON that a query can join with our tables. A host that does not answer is left out: nobody knows what it has.
import type { Machine, Network, Volume } from '../hypervisor/driver.ts'
import type { DriverPool } from '../hypervisor/pool.ts'
import { sql, type Queries, type Sql } from '../kernel/db.ts'
import type { Log } from '../kernel/log.ts'

const PATIENCE_MS = 60_000

export interface HostInventory {
  id: string
  name: string
  machines: Machine[]
  volumes: Volume[]
  networks: Network[]
  filters: { vmId: string }[]
}

export interface InventoryDeps {
  db: Queries
  hypervisors: DriverPool
  log: Log
}

export async function readInventories({ db, hypervisors, log }: InventoryDeps): Promise<HostInventory[]> {
  const hosts = await db.many<{ id: string; name: string }>(sql`select id, name from hosts order by name`)
  const read = hosts.map(async ({ id, name }) => {
    try {
      return [await readOne(hypervisors, id, name)]
    } catch (error) {
      log.info({ err: error, host: name }, 'a host could not be compared with what is written down: it does not answer')
      return []
    }
  })
  return (await Promise.all(read)).flat()
}

async function readOne(hypervisors: DriverPool, id: string, name: string): Promise<HostInventory> {
  const driver = await hypervisors.get(id)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  return {
    id,
    name,
    machines: await all(driver.listMachines(signal)),
    volumes: await all(driver.listVolumes(signal)),
    networks: await all(driver.listNetworks(signal)),
    filters: await all(driver.listFilters(signal)),
  }
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Machines that carry our ids. Others are the operator's own. */
export const machinesOf = ({ machines }: HostInventory): Sql => sql`
  jsonb_to_recordset(${JSON.stringify(machines.filter((machine) => machine.vmId !== null))}::jsonb)
    as m("vmId" text, "accountId" text, uuid text, generation int, power text, vcpu int, "ramMiB" int, nics jsonb)`

export const volumesOf = ({ volumes }: HostInventory): Sql => sql`
  jsonb_to_recordset(${JSON.stringify(volumes)}::jsonb) as f(kind text, id text, "vmId" text, generation int, complete boolean)`

export const networksOf = ({ networks }: HostInventory): Sql => sql`
  jsonb_to_recordset(${JSON.stringify(networks)}::jsonb)
    as w("networkId" text, cidr text, gateway text, "enableSnat" boolean, "enableDhcp" boolean)`

export const filtersOf = ({ filters }: HostInventory): Sql => sql`jsonb_to_recordset(${JSON.stringify(filters)}::jsonb) as f("vmId" text)`
