// One host: what it has sold, what its VMs use of it, and what happens on it.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import {
  hostQuery,
  operatorActionsQuery,
  operatorVmsQuery,
  type HostDetails,
  type OperatorAction,
  type OperatorVm,
} from '../../api/operator.ts'
import { actionTitle } from '../../ui/action-title.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { formatDisk, formatSpeed } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Facts, Page, Row } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, hostMessages as w, operatorMessages, operatorVmMessages, vmsMessages } from '../../words/words.ts'
import { ActionStatus } from './Actions.tsx'
import { CapacityMeter } from './CapacityMeter.tsx'
import { useHostActions } from './host-actions.tsx'
import { HOST_TONES, RUNBOOKS } from './host-states.ts'
import { HostIdentity, Nothing } from './HostIdentity.tsx'
import { HostLoad } from './HostLoad.tsx'

export default function HostPage() {
  const { hostId = '' } = useParams({ strict: false })
  const host = useQuery(hostQuery(hostId))
  return (
    <Loaded isPage of={host}>
      {(data) => <HostView host={data} />}
    </Loaded>
  )
}

function HostView({ host }: { host: HostDetails }) {
  const { itemsOf, dialog } = useHostActions()
  const { id, name, region, driver, state, draining } = host
  const items = itemsOf(host)
  return (
    <Page
      title={name}
      about={
        <Row>
          <Status tone={HOST_TONES[state]}>
            {draining && state === 'maintenance' ? operatorMessages.hosts.draining : operatorMessages.hosts.states[state]}
          </Status>
          <span>{[region, driver].join(' · ')}</span>
          {RUNBOOKS[state] && <a href={RUNBOOKS[state]}>{operatorMessages.hosts.runbook}</a>}
        </Row>
      }
      above={<TextLink to="/operator/hosts">{w.back}</TextLink>}
      actions={items.length > 0 && <RowMenu name={name} items={items} />}
    >
      <HostLoad host={host} />
      <Columns>
        <Sold host={host} />
        <Hardware host={host} />
      </Columns>
      <Storages host={host} />
      <HostIdentity host={host} />
      <Vms hostId={id} />
      <Log hostId={id} />
      {dialog}
    </Page>
  )
}

const Sold = ({ host: { name, vcpu, ramMiB, diskGiB, dedicatedCpus, ports } }: { host: HostDetails }) => (
  <Card title={w.sold}>
    <Facts
      facts={[
        [operatorMessages.hosts.vcpu, <CapacityMeter key="" of={vcpu} what={operatorMessages.hosts.vcpu} where={name} />],
        [
          operatorMessages.hosts.ram,
          <CapacityMeter key="" of={ramMiB} what={operatorMessages.hosts.ram} where={name} unit="GiB" mebibytes />,
        ],
        [operatorMessages.hosts.disk, <CapacityMeter key="" of={diskGiB} what={operatorMessages.hosts.disk} where={name} unit="GiB" />],
        ...(dedicatedCpus.total > 0
          ? [[operatorMessages.plans.cpu, operatorMessages.hosts.dedicated(dedicatedCpus.used, dedicatedCpus.total)] as [string, string]]
          : []),
        [w.network, <Ports key="" ports={ports} />],
      ]}
    />
  </Card>
)

const Ports = ({ ports: { total, pending, failed, error } }: Pick<HostDetails, 'ports'>) => (
  <div title={error ?? undefined}>
    <div>{w.ports(total)}</div>
    {failed > 0 ? (
      <Status tone="bad">{w.portsFailed(failed)}</Status>
    ) : pending > 0 ? (
      <Status tone="busy">{w.portsPending(pending)}</Status>
    ) : (
      total > 0 && <Status tone="good">{w.portsDone}</Status>
    )}
  </div>
)

function Hardware({ host }: { host: HostDetails }) {
  const { hostname, uri, arch, acceleration, cpuNodes, uplinkMbps, hasPowerControl, traits, createdAt, reachableSince, unreachableSince } =
    host
  const since: [string, string | null] = unreachableSince ? [w.unreachableSince, unreachableSince] : [w.reachableSince, reachableSince]
  return (
    <Card title={w.hardware}>
      <Facts
        facts={[
          [w.hostname, hostname],
          [w.address, <code key="">{uri}</code>],
          [w.cpuArchitecture, [arch, acceleration].filter(Boolean).join(', ') || commonMessages.unknown],
          [w.nodes, cpuNodes ?? commonMessages.unknown],
          [w.uplink, uplinkMbps === null ? commonMessages.unknown : formatSpeed(uplinkMbps)],
          [w.power, hasPowerControl ? w.powerSet : w.powerNone],
          [w.traits, traits.length === 0 ? w.noTraits : traits.join(', ')],
          [since[0], since[1] === null ? commonMessages.unknown : <Time key="" at={since[1]} />],
          [w.added, <Time key="" at={createdAt} as="date" />],
        ]}
      />
    </Card>
  )
}

type Storage = HostDetails['storages'][number]

const STORAGES: Column<Storage>[] = [
  { head: w.storageName, truncate: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  { head: operatorMessages.plans.storage, cell: ({ kind }) => w.kinds[kind] ?? kind },
  {
    head: operatorMessages.hosts.state,
    cell: ({ isReachable }) => <Status tone={isReachable ? 'good' : 'bad'}>{isReachable ? w.reachable : w.unreachable}</Status>,
  },
  { head: w.sold, right: true, cell: ({ soldGiB }) => formatDisk(soldGiB) },
  { head: w.free, right: true, cell: ({ freeGiB }) => (freeGiB === null ? commonMessages.unknown : formatDisk(freeGiB)) },
  { head: w.capacity, right: true, cell: ({ totalGiB }) => (totalGiB === null ? commonMessages.unknown : formatDisk(totalGiB)) },
]

const Storages = ({ host: { storages } }: { host: HostDetails }) => (
  <Card flush title={w.storage}>
    <Table caption={w.storage} columns={STORAGES} rows={storages} rowKey={({ kind, name }) => `${kind} ${name}`} />
  </Card>
)

const VMS: Column<OperatorVm>[] = [
  {
    head: vmsMessages.columns.name,
    truncate: ({ name }) => name,
    cell: ({ id, name }) => (
      <TextLink to="/operator/vms" search={{ action: id }}>
        {name}
      </TextLink>
    ),
  },
  {
    head: operatorVmMessages.account,
    truncate: ({ email }) => email,
    cell: ({ accountId, email }) => (
      <TextLink to="/operator/accounts/$accountId" params={{ accountId }}>
        {email}
      </TextLink>
    ),
  },
  { head: vmsMessages.columns.status, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: vmsMessages.columns.address,
    cell: ({ ipAddress, ipv6Address }) => <code>{ipAddress ?? ipv6Address ?? commonMessages.unknown}</code>,
  },
  { head: operatorMessages.accounts.plan, cell: ({ plan }) => plan },
]

function Vms({ hostId }: { hostId: string }) {
  const vms = useQuery(operatorVmsQuery({ host: hostId, limit: 100 }))
  return (
    <Card flush title={w.vmsTitle}>
      <Loaded of={vms} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing>{w.noVms}</Nothing>
          ) : (
            <Table caption={w.vmsTitle} columns={VMS} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}

const ACTIONS: Column<OperatorAction>[] = [
  {
    head: operatorMessages.actions.action,
    cell: ({ id, action }) => (
      <TextLink to="/operator/actions/$actionId" params={{ actionId: id }}>
        {actionTitle(action)}
      </TextLink>
    ),
  },
  {
    head: operatorMessages.actions.vm,
    truncate: ({ subjectName }) => subjectName ?? '',
    cell: ({ subjectName, subjectId }) => subjectName ?? subjectId ?? commonMessages.unknown,
  },
  { head: operatorMessages.actions.status, cell: (action) => <ActionStatus action={action} /> },
  { head: operatorMessages.actions.started, right: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

function Log({ hostId }: { hostId: string }) {
  const actions = useQuery(operatorActionsQuery({ host: hostId, limit: 10 }))
  return (
    <Card flush title={w.log} actions={<TextLink to="/operator/actions">{w.allActions}</TextLink>}>
      <Loaded of={actions} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing>{w.noLog}</Nothing>
          ) : (
            <Table caption={w.log} columns={ACTIONS} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
