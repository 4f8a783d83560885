import { isRenewed, type Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useCurrency } from '../../api/session.ts'
import { volumesQuery } from '../../queries/vms.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatDisk, formatDuration, formatMoney, formatOs, formatSize, formatSpeed } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Facts, Stack } from '../../ui/Page.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, vmMessages as w } from '../../words/words.ts'
import { publicAddresses, TrafficMeter } from './Traffic.tsx'

export function Overview({ vm }: { vm: Vm }) {
  const currency = useCurrency()
  const f = w.facts
  return (
    <Stack>
      <Card title={w.details}>
        <Facts
          facts={[
            [f.plan, vm.plan.name],
            [f.size, formatSize(vm)],
            [f.storage, w.storage[vm.storage]],
            [f.os, formatOs(vm.osTemplate)],
            [f.region, vm.region.name],
            ...publicAddresses(vm),
            [f.privateAddress, <PrivateAddresses key="" vm={vm} />],
            [f.hostname, vm.hostname],
            [f.speed, formatSpeed(vm.networkSpeed)],
            [f.volumes, <Volumes key="" vm={vm} />],
            [f.placementGroup, vm.placementGroup?.name ?? commonMessages.none],
            ...initializationOf(vm),
            [f.keys, vm.sshKeys.map(({ name }) => name).join(', ') || w.noKeys],
            [f.backups, vm.dailyBackupEnabled ? commonMessages.on : commonMessages.off],
            [f.protection, vm.isProtected ? commonMessages.on : commonMessages.off],
            [f.created, <Time key="" at={vm.createdAt} />],
            ...shelvedSince(vm),
            [f.id, <Copyable key="" text={vm.id} what={f.id} />],
          ]}
        />
      </Card>
      <Card title={w.billing}>
        <Facts
          facts={[
            [f.price, formatMoney(vm.billing.priceMonthly, currency)],
            ...copiesPrice(vm, currency),
            [f.renews, isRenewed(vm) ? <Time key="" at={vm.billing.nextRenewalAt} as="date" /> : commonMessages.none],
            [f.billing, <StatusBadge key="" status={vm.billing.status} />],
            [f.traffic, <TrafficMeter key="" vm={vm} />],
          ]}
        />
      </Card>
    </Stack>
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

/** Nothing where copies are free. */
const copiesPrice = ({ copiesPriceMonthly }: Vm, currency: string): [string, string][] =>
  Number(copiesPriceMonthly) > 0 ? [[w.facts.copies, w.copiesPrice(formatMoney(copiesPriceMonthly, currency))]] : []

function Volumes({ vm: { id } }: { vm: Vm }) {
  const volumes = useQuery(volumesQuery({ vmId: id, limit: 100 })).data?.items ?? []
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

const PrivateAddresses = ({ vm: { privateNetworks } }: { vm: Vm }) =>
  privateNetworks.length === 0 ? (
    commonMessages.none
  ) : (
    <Stack gap={2}>
      {privateNetworks.map(({ id, name, ipAddress }) => (
        <span key={id}>
          <Copyable text={ipAddress} what={w.networking.addressIn(name)} /> <span className="muted">{name}</span>
        </span>
      ))}
    </Stack>
  )
