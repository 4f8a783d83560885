import { Alert, Tabs } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { maintenancesQuery, vmQuery } from '../../queries/vms.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Page, Row } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Loaded, Loading } from '../../ui/AsyncState.tsx'
import { vmMessages as w } from '../../words/words.ts'
import { VmStatus } from '../vms/VmStatus.tsx'
import { Activity } from './Activity.tsx'
import { SnapshotsBackups } from './SnapshotsBackups.tsx'
import { Networking } from './Networking.tsx'
import { Overview } from './Overview.tsx'
import { Power } from './Power.tsx'
import { IsoAttached } from './Iso.tsx'
import { InRescue, OfferRescue } from './Rescue.tsx'
import { VmSettings } from './VmSettings.tsx'
import { LabelsInPlace } from './LabelsInPlace.tsx'
import { useLoginUser } from './login.ts'
import { RenameInPlace } from './RenameInPlace.tsx'
import { ActionProgress } from './ActionProgress.tsx'

// Large dependencies, loaded when their tab is opened.
const Console = lazy(() => import('./Console.tsx'))
const Graphs = lazy(() => import('./Graphs.tsx'))

const TABS = ['overview', 'graphs', 'networking', 'copies', 'activity', 'console', 'settings'] as const
type Tab = (typeof TABS)[number]

export default function VmPage() {
  const { vmId = '' } = useParams({ strict: false })
  const vm = useQuery(vmQuery(vmId))
  return (
    <Loaded isPage of={vm}>
      {(data) => <VmView vm={data} />}
    </Loaded>
  )
}

function VmView({ vm }: { vm: Vm }) {
  const { search, setSearch } = usePaging()
  const [isRenamed, setIsRenamed] = useState(false)
  const tab = TABS.find((each) => each === search.tab) ?? 'overview'
  const about = (
    <Row gap={16}>
      <VmStatus
        name={vm.name}
        status={vm.status}
        isShelved={vm.shelvedAt !== null}
        isUnknown={vm.hostUnreachableSince !== null}
        running={vm.currentAction}
      />
      {vm.shelvedAt === null && tab !== 'overview' && <SshCommand vm={vm} />}
      <LabelsInPlace vm={vm} />
    </Row>
  )
  return (
    <Page
      title={vm.name}
      heading={isRenamed ? <span className="hidden">{vm.name}</span> : vm.name}
      beside={<RenameInPlace vm={vm} isEdited={isRenamed} onEdit={setIsRenamed} />}
      about={about}
      above={<TextLink to="/vms">{w.back}</TextLink>}
      actions={<Power vm={vm} />}
    >
      <StatusAlert vm={vm} />
      <Maintenances vmId={vm.id} />
      {vm.currentAction && <ActionProgress vmId={vm.id} current={vm.currentAction} />}
      <Tabs
        value={tab}
        onChange={(next) => setSearch({ tab: next === 'overview' ? undefined : (next ?? undefined), page: undefined, limit: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb={20}>
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {w.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <Suspense fallback={<Loading />}>
              <TabContent tab={each} vm={vm} />
            </Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

function SshCommand({ vm }: { vm: Vm }) {
  const address = vm.ipAddress ?? vm.ipv6Address
  const user = useLoginUser(vm)
  return address && user && <Copyable text={`ssh ${user}@${address}`} what={w.ssh} />
}

function TabContent({ tab, vm }: { tab: Tab; vm: Vm }) {
  switch (tab) {
    case 'overview':
      return <Overview vm={vm} />
    case 'graphs':
      return <Graphs vm={vm} />
    case 'networking':
      return <Networking vm={vm} />
    case 'copies':
      return <SnapshotsBackups vm={vm} />
    case 'activity':
      return <Activity vm={vm} />
    case 'console':
      return <Console vm={vm} />
    case 'settings':
      return <VmSettings vm={vm} />
  }
}

/** Those of its host that the provider has announced. */
const Maintenances = ({ vmId }: { vmId: string }) =>
  (useQuery(maintenancesQuery).data ?? [])
    .filter(({ vmIds }) => vmIds.includes(vmId))
    .map(({ id, startsAt, endsAt, text }) => (
      <Alert key={id} color="blue">
        {w.maintenance(formatDateTime(startsAt), formatDateTime(endsAt), text)}
      </Alert>
    ))

/** Of a VM that was to run. */
const isFailure = (reason: string | null): reason is string => reason !== null && /did not boot|^Crashed/.test(reason)

/** The most important warning about the VM, if any. */
function StatusAlert({ vm }: { vm: Vm }) {
  if (vm.status === 'SUSPENDED') return <Alert color="orange">{vm.statusReason ?? w.suspended}</Alert>
  if (vm.status === 'UNMANAGED') return <Alert color="gray">{w.unmanaged}</Alert>
  if (vm.rescue) return <InRescue vm={vm} rescue={vm.rescue} />
  if (vm.status === 'ERROR') return <OfferRescue vm={vm} color="red" text={vm.statusReason ?? w.failedCreate} />
  if (vm.hostUnreachableSince !== null) return <Alert color="red">{vm.statusReason}</Alert>
  if (vm.billing.status === 'PAST_DUE') return <Alert color="orange">{w.pastDue}</Alert>
  if (vm.shelvedAt !== null && !vm.currentAction) return <Alert color="gray">{w.shelved}</Alert>
  if (vm.initialization?.status === 'FAILED' && !vm.currentAction) return <Alert color="orange">{w.initializationFailed}</Alert>
  if (vm.status === 'STOPPED' && vm.allowedActions.includes('rescue') && isFailure(vm.statusReason))
    return <OfferRescue vm={vm} color="orange" text={vm.statusReason} />
  if (vm.iso) return <IsoAttached vm={vm} iso={vm.iso} />
  if (vm.status === 'RUNNING' && vm.readiness === 'booting' && !vm.currentAction)
    return vm.statusReason?.includes('in rescue') ? (
      <OfferRescue vm={vm} color="orange" text={vm.statusReason} />
    ) : (
      <Alert>{vm.statusReason ?? w.booting}</Alert>
    )
  return null
}
