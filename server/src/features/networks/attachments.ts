// Attachments of VMs to networks, with their addresses.
import { randomBytes } from 'node:crypto'
import type { NetworkSpec } from '../../hypervisor/network-controller.ts'
import { formatAddress, lastAddress, parseCidr } from '../../kernel/cidr.ts'
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import { apiError } from '../../kernel/errors.ts'
import { SNAT_GATEWAY, SNAT_RANGE } from '../hosts/service.ts'
import { listPeers, listRoutes, type NetworkRow } from './sql.ts'

export interface Attachment {
  vm_id: string
  network_id: string
  network_name: string
  mac: string
  address: string
  prefix: number
  /** Of the router that leads out of the network; null where none does. */
  way_out: string | null
  /** Ranges that the network routes to it. */
  ranges: string[]
}

const columns = sql`a.vm_id, a.network_id, n.name as network_name, a.mac, host(a.address) as address, masklen(n.cidr) as prefix,
  case when n.enable_snat then host(n.gateway) end as way_out,
  array(select r.destination::text from network_routes r where r.network_id = a.network_id and r.next_hop = a.address order by r.destination) as ranges`

export const networkSpec = async (db: Queries, row: NetworkRow): Promise<NetworkSpec> => ({
  networkId: row.id,
  version: row.version,
  cidr: row.cidr,
  gateway: row.gateway,
  enableDhcp: row.enable_dhcp,
  dns: [],
  snat: row.snat_address === null ? null : { address: row.snat_address, prefix: SNAT_RANGE.prefix, gateway: SNAT_GATEWAY },
  routes: (await listRoutes(db, row.id)).map(({ destination, next_hop }) => ({ destination, nextHop: next_hop })),
  peers: (await listPeers(db, row.id)).map(({ network_id, cidr, gateway }) => ({ networkId: network_id, cidr, gateway })),
})

/** Requires the network lock of `requireNetworks` in this transaction: concurrent callers wait, so no address is allocated twice. */
export async function allocateAddress(tx: Tx, network: NetworkRow, vmId: string): Promise<Attachment> {
  const address = await nextFree(tx, network)
  if (address === null) throw full(network)
  await tx.run(sql`update networks set last_address = ${address} where id = ${network.id}`)
  for (let tries = 0; tries < 5; tries++) {
    const row = await insertAttachment(tx, network, vmId, { mac: randomMac(), address })
    if (row) return row
    if ((await attachmentsOf(tx, vmId)).some(({ network_id }) => network_id === network.id))
      throw apiError('already_exists', `The VM is attached to the network ${network.name} already`)
  }
  throw new Error('BUG: five random MAC addresses were taken')
}

/** The first free address after the last allocated one, wrapping around. The gateway counts as allocated. */
async function nextFree(tx: Tx, { id, cidr }: NetworkRow): Promise<string | null> {
  const range = parseCidr(cidr)!
  const [first, last] = [formatAddress(range.base + 1), formatAddress(lastAddress(range) - 1)]
  const row = await tx.maybe<{ address: string }>(sql`
    with network as (select gateway, last_address from networks where id = ${id}),
      taken as (select address from network_attachments where network_id = ${id} union all select gateway from network where gateway is not null),
      candidates as (
        select ${first}::inet as address union select last_address + 1 from network where last_address is not null
        union select address + 1 from taken)
    select host(address) as address from candidates
    where address between ${first}::inet and ${last}::inet and address not in (select address from taken)
    order by address <= (select last_address from network), address limit 1`)
  return row?.address ?? null
}

/** No row when the MAC or address is in use, or the VM is already attached. */
const insertAttachment = (tx: Tx, network: NetworkRow, vmId: string, { mac, address }: Pick<Attachment, 'mac' | 'address'>) =>
  tx.maybe<Attachment>(sql`
    with a as (
      insert into network_attachments (network_id, vm_id, account_id, mac, address)
      values (${network.id}, ${vmId}, ${network.account_id}, ${mac}, ${address})
      on conflict do nothing returning ${allColumns('network_attachments')})
    select ${columns} from a join networks n on n.id = a.network_id`)

function full({ name, cidr }: NetworkRow): Error {
  return apiError('incompatible', `The network ${name} (${cidr}) is full: detach a VM from it, or create a larger network`)
}

export const releaseAddress = (tx: Tx, networkId: string, vmId: string) =>
  tx.run(sql`delete from network_attachments where network_id = ${networkId} and vm_id = ${vmId}`)

export const releaseAllAddresses = (tx: Tx, vmId: string) => tx.run(sql`delete from network_attachments where vm_id = ${vmId}`)

/** Of one VM or several, in attachment order. */
export const attachmentsOf = (db: Queries, vmIds: string | string[]) =>
  db.many<Attachment>(sql`
    select ${columns} from network_attachments a join networks n on n.id = a.network_id where a.vm_id = any(${[vmIds].flat()}::text[])
    order by a.vm_id, a.number`)

/** Subquery: a VM's networks as a JSON list. */
export const networksAsJson = (vmId: Sql) => sql`
  (select coalesce(json_agg(json_build_object('id', n.id, 'name', n.name, 'address', host(a.address)) order by a.number), '[]')
    from network_attachments a join networks n on n.id = a.network_id where a.vm_id = ${vmId})`

/** In attachment order. */
export const attachedNetworks = (db: Queries, vmId: string) =>
  db.many<NetworkRow>(sql`
    select ${allColumns('networks', 'n')} from network_attachments a join networks n on n.id = a.network_id where a.vm_id = ${vmId} order by a.number`)

/** Random, unicast and locally administered. Starts with `02`, because hypervisors use `fe` for the host side of an interface. */
export const randomMac = (): string => [0x02, ...randomBytes(5)].map((octet) => octet.toString(16).padStart(2, '0')).join(':')
