import { Button } from '@mantine/core'
import type { BandwidthUsage } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { bandwidthQuery } from '../../queries/account.ts'
import { formatBytes } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { bandwidthMessages as w, commonMessages } from '../../words/words.ts'
import { BuyPack } from './BuyPack.tsx'

export default function Bandwidth() {
  const [buys, setBuys] = useState<BandwidthUsage | null>(null)
  const traffic = useQuery(bandwidthQuery)
  const columns: Column<BandwidthUsage>[] = [
    {
      head: w.vm,
      truncate: ({ vmName }) => vmName,
      cell: ({ vmId, vmName }) => (
        <TextLink to="/vms/$vmId" params={{ vmId }}>
          {vmName}
        </TextLink>
      ),
    },
    { head: w.used, cell: (usage) => <Used usage={usage} /> },
    { head: w.packs, cell: ({ packBytes }) => (packBytes === '0' ? commonMessages.none : formatBytes(packBytes)), right: true },
    { head: w.state, cell: ({ throttled }) => <Status tone={throttled ? 'held' : 'good'}>{throttled ? w.throttled : w.full}</Status> },
    { head: w.resets, cell: ({ nextRenewalAt }) => <Time at={nextRenewalAt} as="date" />, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (usage) => (
        <Button variant="default" size="xs" onClick={() => setBuys(usage)}>
          {w.buy} <span className="hidden">{usage.vmName}</span>
        </Button>
      ),
    },
  ]
  return (
    <Page title={w.title} about={w.about}>
      <Card flush>
        <Loaded of={traffic}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon="gauge" title={w.emptyTitle} about={w.emptyAbout} />
            ) : (
              <Table caption={w.title} columns={columns} rows={all} rowKey={({ vmId }) => vmId} />
            )
          }
        </Loaded>
      </Card>
      {buys && <BuyPack vmId={buys.vmId} vmName={buys.vmName} onClose={() => setBuys(null)} />}
    </Page>
  )
}

function Used({ usage: { vmName, usedBytes, capBytes } }: { usage: BandwidthUsage }) {
  const text = w.of(formatBytes(usedBytes), capBytes === null ? null : formatBytes(capBytes))
  return capBytes === null ? text : <Meter used={usedBytes} of={Number(capBytes)} label={w.usedOf(vmName)} text={text} />
}
