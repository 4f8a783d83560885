import { isRenewed, type Action, type BandwidthUsage, type VmListItem } from '@berth/sdk'
import { Link } from '@tanstack/react-router'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatOs, formatSize } from '../../ui/format.ts'
import { LabelChips } from '../../ui/Labels.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { vmsMessages as w } from '../../words/words.ts'
import css from './vms.module.css'
import { VmStatus } from './VmStatus.tsx'

interface Props {
  vms: VmListItem[]
  running: Action[]
  traffic: BandwidthUsage[]
}

export function VmTable({ vms, running, traffic }: Props) {
  const actionOf = new Map(running.map((action) => [action.vmId, action]))
  const trafficOf = new Map(traffic.map((usage) => [usage.vmId, usage]))
  const columns: Column<VmListItem>[] = [
    { head: w.columns.name, truncate: ({ name }) => name, cell: (vm) => <VmName vm={vm} /> },
    {
      head: w.columns.status,
      cell: (vm) => (
        <VmStatus
          name={vm.name}
          status={vm.status}
          isShelved={vm.shelvedAt !== null}
          isUnknown={vm.hostUnreachableSince !== null}
          running={actionOf.get(vm.id)}
        />
      ),
    },
    {
      head: w.columns.address,
      cell: ({ ipAddress, ipv6Address }) => {
        const address = ipAddress ?? ipv6Address
        return address ? <Copyable text={address} what={w.address} /> : <span className="muted">{w.noAddress}</span>
      },
    },
    { head: w.columns.plan, cell: (vm) => <Two first={vm.plan.name} second={formatSize(vm)} /> },
    { head: w.columns.region, cell: (vm) => <Two first={vm.region.name} second={formatOs(vm.osTemplate)} /> },
    { head: w.columns.traffic, cell: (vm) => <Traffic name={vm.name} usage={trafficOf.get(vm.id)} /> },
    {
      head: w.columns.renewal,
      cell: (vm) => (isRenewed(vm) ? <Time at={vm.billing.nextRenewalAt} as="date" /> : <span className="muted">–</span>),
      right: true,
    },
  ]
  return <Table caption={w.title} columns={columns} rows={vms} rowKey={(vm) => vm.id} />
}

const VmName = ({ vm }: { vm: VmListItem }) => (
  <div>
    <Link to="/vms/$vmId" params={{ vmId: vm.id }} className={css['name']}>
      {vm.name}
    </Link>
    <div className={css['sub']}>
      {vm.hostname !== vm.name && <span>{vm.hostname}</span>}
      {vm.isProtected && <span>{w.protectedVm}</span>}
    </div>
    <LabelChips labels={vm.labels} />
  </div>
)

const Two = ({ first, second }: { first: string; second: string }) => (
  <div>
    {first}
    <div className="muted" style={{ fontSize: '0.78125rem' }}>
      {second}
    </div>
  </div>
)

function Traffic({ name, usage }: { name: string; usage: BandwidthUsage | undefined }) {
  if (!usage) return <span className="muted">–</span>
  const text = w.traffic(formatBytes(usage.usedBytes), usage.capBytes === null ? null : formatBytes(usage.capBytes))
  if (usage.capBytes === null) return <span className="muted numbers">{text}</span>
  return <Meter used={usage.usedBytes} of={Number(usage.capBytes)} label={w.trafficOf(name)} text={text} />
}
