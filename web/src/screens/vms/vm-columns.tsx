import { isRenewed, type Action, type BandwidthUsage, type VmListItem } from '@berth/sdk'
import { Link } from '@tanstack/react-router'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatMoney, formatOs, formatSize } from '../../ui/format.ts'
import { LabelChips } from '../../ui/Labels.tsx'
import { Meter } from '../../ui/Meter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, vmsMessages as w } from '../../words/words.ts'
import { VmLoad, type RecentLoad } from './VmLoad.tsx'
import { VmMenu, type VmAction } from './VmMenu.tsx'
import css from './vms.module.css'
import { VmStatus } from './VmStatus.tsx'

export interface VmRowData {
  actionOf: ReadonlyMap<string, Action>
  trafficOf: ReadonlyMap<string, BandwidthUsage>
  loadOf: ReadonlyMap<string, RecentLoad>
  currency: string
  onAction: (vm: VmListItem, action: VmAction) => void
}

export function vmColumns({ actionOf, trafficOf, loadOf, currency, onAction }: VmRowData): Column<VmListItem>[] {
  return [
    { head: w.columns.name, sort: 'name', truncate: ({ name }) => name, cell: (vm) => <VmName vm={vm} />, text: ({ name }) => name },
    {
      head: w.columns.status,
      sort: 'status',
      text: ({ status }) => w.statuses[status],
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
      optional: 'shown',
      text: addressOf,
      cell: (vm) => {
        const address = addressOf(vm)
        return address ? <Copyable text={address} what={w.address} /> : <span className="muted">{w.noAddress}</span>
      },
    },
    {
      head: w.columns.plan,
      sort: 'plan',
      optional: 'shown',
      text: ({ plan }) => plan.name,
      cell: (vm) => <Two first={vm.plan.name} second={formatSize(vm)} />,
    },
    {
      head: w.columns.region,
      sort: 'region',
      optional: 'shown',
      text: ({ region }) => region.name,
      cell: (vm) => <Two first={vm.region.name} second={formatOs(vm.osTemplate)} />,
    },
    {
      head: w.columns.load,
      optional: 'shown',
      cell: (vm) => <VmLoad name={vm.name} load={loadOf.get(vm.id)} />,
    },
    {
      head: w.columns.traffic,
      optional: 'hidden',
      text: ({ id }) => String(trafficOf.get(id)?.usedBytes ?? ''),
      cell: (vm) => <Traffic name={vm.name} usage={trafficOf.get(vm.id)} />,
    },
    {
      head: w.columns.price,
      sort: 'priceMonthly',
      optional: 'hidden',
      right: true,
      text: ({ billing }) => billing.priceMonthly,
      cell: ({ billing }) => <span className="numbers">{formatMoney(billing.priceMonthly, currency)}</span>,
    },
    {
      head: w.columns.created,
      sort: 'createdAt',
      optional: 'hidden',
      right: true,
      text: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
    {
      head: w.columns.renewal,
      sort: 'nextRenewalAt',
      optional: 'shown',
      right: true,
      text: (vm) => (isRenewed(vm) ? vm.billing.nextRenewalAt : ''),
      cell: (vm) => (isRenewed(vm) ? <Time at={vm.billing.nextRenewalAt} as="date" /> : <span className="muted">–</span>),
    },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (vm) => <VmMenu vm={vm} onAction={(action) => onAction(vm, action)} />,
    },
  ]
}

const addressOf = ({ ipAddress, ipv6Address }: VmListItem): string => ipAddress ?? ipv6Address ?? ''

const VmName = ({ vm }: { vm: VmListItem }) => (
  <div>
    <Link to="/vms/$vmId" params={{ vmId: vm.id }} className={css['name']}>
      {vm.name}
    </Link>
    {(vm.hostname !== vm.name || vm.isProtected) && (
      <div className={css['sub']} data-extra>
        {vm.hostname !== vm.name && <span>{vm.hostname}</span>}
        {vm.isProtected && <span>{w.protectedVm}</span>}
      </div>
    )}
    <LabelChips labels={vm.labels} />
  </div>
)

const Two = ({ first, second }: { first: string; second: string }) => (
  <div>
    {first}
    <div className={css['second']}>{second}</div>
  </div>
)

function Traffic({ name, usage }: { name: string; usage: BandwidthUsage | undefined }) {
  if (!usage) return <span className="muted">–</span>
  const text = w.traffic(formatBytes(usage.usedBytes), usage.capBytes === null ? null : formatBytes(usage.capBytes))
  if (usage.capBytes === null) return <span className="muted numbers">{text}</span>
  return <Meter used={usage.usedBytes} of={Number(usage.capBytes)} label={w.trafficOf(name)} text={text} />
}
