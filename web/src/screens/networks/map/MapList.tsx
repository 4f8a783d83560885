import { TextLink } from '../../../ui/links.tsx'
import { Card } from '../../../ui/Page.tsx'
import { Status, toneOf } from '../../../ui/Status.tsx'
import { Table, type Column } from '../../../ui/Table.tsx'
import { commonMessages, networkMessages, vmsMessages } from '../../../words/words.ts'
import type { MapNetwork, MapVm, Topology } from './layout.ts'
import css from './map.module.css'
import { statusOf } from './MapNodes.tsx'

const w = networkMessages.map

interface Row {
  vm: MapVm
  ipAddress: string | null
  firewalls: { id: string; name: string }[]
}

const columns: Column<Row>[] = [
  {
    head: vmsMessages.columns.name,
    truncate: ({ vm }) => vm.name,
    cell: ({ vm }) => (
      <TextLink to="/vms/$vmId" params={{ vmId: vm.id }}>
        {vm.name}
      </TextLink>
    ),
  },
  {
    head: vmsMessages.columns.status,
    cell: ({ vm }) => <Status tone={toneOf(vm.status)}>{statusOf(vm)}</Status>,
  },
  { head: networkMessages.address, cell: ({ ipAddress }) => <code>{ipAddress ?? commonMessages.none}</code> },
  {
    head: w.publicAddresses,
    cell: ({ vm: { publicAddress, floating } }) => {
      const all = [publicAddress, ...floating].filter((each) => each !== null)
      return all.length === 0
        ? commonMessages.none
        : all.map((each) => (
            <code key={each} className={css['line1']}>
              {each}
            </code>
          ))
    },
  },
  {
    head: w.firewalls,
    cell: ({ firewalls }) =>
      firewalls.length === 0
        ? w.open
        : firewalls.map(({ id, name }) => (
            <TextLink key={id} to="/firewalls/$firewallId" params={{ firewallId: id }} className={css['line1']}>
              {name}
            </TextLink>
          )),
  },
]

/** What the map shows, to be read. */
export function MapList({ topology: { networks, vms, firewalls } }: { topology: Topology }) {
  const byId = new Map(vms.map((vm) => [vm.id, vm]))
  const names = new Map(networks.map(({ id, name }) => [id, name]))
  const rowOf = (vm: MapVm, ipAddress: string | null): Row => ({
    vm,
    ipAddress,
    firewalls: firewalls.filter(({ vmIds }) => vmIds.includes(vm.id)),
  })
  const attached = new Set(networks.flatMap(({ attachments }) => attachments.map(({ vmId }) => vmId)))
  const loose = vms.filter(({ id }) => !attached.has(id))
  return (
    <>
      {networks.map((network) => (
        <Card
          key={network.id}
          flush
          title={
            <TextLink to="/networks/$networkId" params={{ networkId: network.id }}>
              {network.name}
            </TextLink>
          }
          about={aboutOf(network, names)}
        >
          <Rows
            caption={network.name}
            rows={network.attachments.flatMap(({ vmId, ipAddress }) => (byId.has(vmId) ? [rowOf(byId.get(vmId)!, ipAddress)] : []))}
          />
        </Card>
      ))}
      {loose.length > 0 && (
        <Card flush title={w.loose} about={w.looseAbout}>
          <Rows caption={w.loose} rows={loose.map((vm) => rowOf(vm, null))} />
        </Card>
      )}
    </>
  )
}

const aboutOf = ({ cidr, gateway, region, hasSnat, peers, routes }: MapNetwork, names: ReadonlyMap<string, string>): string =>
  [
    cidr,
    gateway !== null && w.gateway(gateway),
    region,
    hasSnat && 'SNAT',
    peers.length > 0 && w.peeredWith(peers.map((id) => names.get(id) ?? id).join(', ')),
    ...routes.map(({ destination, nextHop }) => w.routeTo(destination, nextHop)),
  ]
    .filter(Boolean)
    .join(' · ')

const Rows = ({ caption, rows }: { caption: string; rows: Row[] }) =>
  rows.length === 0 ? (
    <p className={css['none']}>{w.noVms}</p>
  ) : (
    <Table caption={caption} columns={columns} rows={rows} rowKey={({ vm }) => vm.id} />
  )
