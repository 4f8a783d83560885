// Inventory of the host, read page by page, in constant memory.
import { sql } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Machine, Monitoring, Volume } from '../driver.ts'
import type { SimulatedHost, Verb } from './host.ts'
import { roomOf } from './live-size.ts'
import { agentConnected } from './power.ts'
import type { MachineRow } from './definition.ts'
import { parentBackupId, type VolumeRow } from './volumes.ts'

type Lists = Pick<Monitoring, 'findMachine' | 'listMachines' | 'listVolumes'>

/** Keyset pagination. Each page is a call of its own, so a host that becomes unreachable in between is noticed. */
export async function* paged<Row, Item>(
  host: Pick<SimulatedHost, 'call'>,
  verb: Verb,
  signal: AbortSignal,
  size: number,
  page: (last: Row | undefined) => Promise<Row[]>,
  show: (row: Row) => Item,
): AsyncGenerator<Item> {
  for (let last: Row | undefined; ;) {
    const rows = await host.call(verb, signal, () => page(last))
    for (const row of rows) yield show(row)
    if (rows.length < size) return
    last = rows.at(-1)
  }
}

interface ListedMachine extends MachineRow {
  is_full: boolean
  nics: { mac: string }[]
  volumes: string[]
}

const PAGE = 500

export function inventoryMethods(host: SimulatedHost): Lists {
  const { hostId, db, call } = host
  const machines = sql`select ${allColumns('simulated.machines', 'm')}, array(select json_build_object('mac', mac)
    from simulated.nics n where n.host_id = m.host_id and n.machine = m.name order by mac) as nics,
    array(select volume_id from simulated.machine_volumes a where a.host_id = m.host_id and a.machine = m.name order by volume_id) as volumes,
    (select is_full from simulated.hosts h where h.host_id = m.host_id) as is_full from simulated.machines m`

  return {
    findMachine: (vmId, signal) =>
      call('findMachine', signal, async () => {
        const row = await db.maybe<ListedMachine>(sql`${machines} where host_id = ${hostId} and name = ${vmId} and vm_id is not null`)
        return row ? toMachine(host, row) : null
      }),

    listMachines: (signal) =>
      paged<ListedMachine, Machine>(
        host,
        'listMachines',
        signal,
        PAGE,
        (last) => db.many(sql`${machines} where host_id = ${hostId} and name > ${last?.name ?? ''} order by name limit ${PAGE}`),
        (row) => toMachine(host, row),
      ),

    listVolumes: (signal) =>
      paged<VolumeRow, Volume>(
        host,
        'listVolumes',
        signal,
        PAGE,
        (last) =>
          db.many(
            sql`select ${allColumns('simulated.volumes')} from simulated.volumes where host_id = ${hostId} and name > ${last?.name ?? ''} order by name limit ${PAGE}`,
          ),
        toVolume,
      ),
  }
}

const toMachine = (host: SimulatedHost, row: ListedMachine): Machine => ({
  vmId: row.vm_id,
  accountId: row.account_id,
  generation: row.generation,
  rescueGeneration: row.rescue_generation,
  name: row.name,
  uuid: row.uuid,
  power: row.power,
  stopReason: row.power === 'stopped' ? row.stop_reason : null,
  isOutOfSpace: row.power === 'paused' && row.is_full,
  vcpu: row.vcpu,
  cpus: row.cpus && { cpus: row.cpus, numaNode: row.numa_node },
  ramMiB: row.ram_mib,
  room: roomOf(row),
  diskLimits: { iops: row.disk_iops, miBPerSecond: row.disk_mib_per_second },
  agentConnected: agentConnected(host, row),
  nics: row.nics,
  volumes: row.volumes,
  isoId: row.iso_id,
})

const toVolume = (row: VolumeRow): Volume => ({
  kind: row.kind,
  id: row.id,
  vmId: row.vm_id,
  generation: row.generation,
  parentId: parentBackupId(row),
  complete: row.is_complete,
  capacityBytes: Number(row.capacity_bytes),
  sizeBytes: Number(row.size_bytes),
  storageId: row.storage_id,
})
