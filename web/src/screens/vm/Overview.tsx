import { Switch } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { volumesQuery } from '../../queries/vms.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatDisk, formatDuration, formatOs, formatSize, formatSpeed } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Facts, Row, Stack } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, vmMessages as w } from '../../words/words.ts'
import { AddressesCard } from './AddressesCard.tsx'
import { BackupCard } from './BackupCard.tsx'
import { ConnectCard } from './ConnectCard.tsx'
import { CostCard } from './CostCard.tsx'
import { HappenedCard } from './HappenedCard.tsx'
import { MiniGraphs } from './MiniGraphs.tsx'
import css from './overview.module.css'

/** What is asked most often comes first: how to get in, how it does, where it is, what it costs. */
export const Overview = ({ vm }: { vm: Vm }) => (
  <div className={css['overview']}>
    <div className={css['main']}>
      {vm.shelvedAt === null && <MiniGraphs vm={vm} />}
      <AddressesCard vm={vm} />
      <HappenedCard vm={vm} />
      <Details vm={vm} />
    </div>
    <div className={css['aside']}>
      {vm.shelvedAt === null && <ConnectCard vm={vm} />}
      <CostCard vm={vm} />
      <BackupCard vm={vm} />
    </div>
  </div>
)

function Details({ vm }: { vm: Vm }) {
  const f = w.facts
  return (
    <Card title={w.details}>
      <Facts
        facts={[
          [f.plan, vm.plan.name],
          [f.size, formatSize(vm)],
          [f.storage, w.storage[vm.storage]],
          [f.os, formatOs(vm.osTemplate)],
          [f.region, vm.region.name],
          [f.hostname, vm.hostname],
          [f.speed, formatSpeed(vm.networkSpeed)],
          [f.volumes, <Volumes key="" vm={vm} />],
          [f.placementGroup, vm.placementGroup?.name ?? commonMessages.none],
          ...initializationOf(vm),
          [f.keys, vm.sshKeys.map(({ name }) => name).join(', ') || w.noKeys],
          [f.protection, <Protection key="" vm={vm} />],
          [f.created, <Time key="" at={vm.createdAt} />],
          ...shelvedSince(vm),
          [f.id, <Copyable key="" text={vm.id} what={f.id} />],
        ]}
      />
    </Card>
  )
}

function Protection({ vm }: { vm: Vm }) {
  const protect = useWrite((isProtected: boolean) => berth.vms.update(vm.id, { isProtected }), {
    invalidates: ['vm', 'vms'],
    successMessage: commonMessages.saved,
  })
  return (
    <Row>
      <Switch
        size="xs"
        aria-label={w.facts.protection}
        checked={vm.isProtected}
        disabled={protect.isPending}
        onChange={(event) => protect.mutate(event.currentTarget.checked)}
      />
      <span>{vm.isProtected ? commonMessages.on : commonMessages.off}</span>
    </Row>
  )
}

function initializationOf({ initialization }: Vm): [string, ReactNode][] {
  if (!initialization) return []
  const { status, seconds, errors } = initialization
  const text = w.initialization[status]
  return [
    [
      w.facts.initialization,
      <Stack key="" gap={2}>
        <span>{seconds === null ? text : w.initialized(text, formatDuration(seconds * 1000))}</span>
        {errors.map((error) => (
          <span key={error} className="muted">
            {error}
          </span>
        ))}
      </Stack>,
    ],
  ]
}

const shelvedSince = ({ shelvedAt }: Vm): [string, ReactNode][] =>
  shelvedAt === null ? [] : [[w.facts.shelved, <Time key="" at={shelvedAt} />]]

function Volumes({ vm: { id } }: { vm: Vm }) {
  const volumes = (useQuery(volumesQuery({ vmId: id, limit: 100 })).data?.items ?? []).filter(({ vmId }) => vmId === id)
  if (volumes.length === 0) return commonMessages.none
  return (
    <Stack gap={2}>
      {volumes.map(({ id: volumeId, name, sizeGiB }) => (
        <span key={volumeId}>
          <TextLink to="/volumes" underline="always">
            {name}
          </TextLink>{' '}
          <span className="muted">{formatDisk(sizeGiB)}</span>
        </span>
      ))}
    </Stack>
  )
}
