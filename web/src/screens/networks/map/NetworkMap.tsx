import { SegmentedControl } from '@mantine/core'
import type { Reach } from '@berth/sdk'
import { useState } from 'react'
import { Loaded, Empty } from '../../../ui/AsyncState.tsx'
import { TextLink } from '../../../ui/links.tsx'
import { Card, Page } from '../../../ui/Page.tsx'
import { usePaging } from '../../../ui/paging.ts'
import { networkMessages } from '../../../words/words.ts'
import type { Topology } from './layout.ts'
import { MapCanvas } from './MapCanvas.tsx'
import { MapList } from './MapList.tsx'
import { MapReach } from './MapReach.tsx'
import { useTopology } from './useTopology.ts'

const w = networkMessages.map

/** On a phone the list is read more easily. */
const isNarrow = (): boolean => matchMedia('(max-width: 640px)').matches

export default function NetworkMap() {
  const topology = useTopology()
  const { search, setSearch } = usePaging()
  const kind = search.kind === 'map' || search.kind === 'list' ? search.kind : isNarrow() ? 'list' : 'map'
  const choice = (
    <SegmentedControl
      aria-label={w.show}
      value={kind}
      onChange={(next) => setSearch({ kind: next })}
      data={[
        { value: 'map', label: w.asMap },
        { value: 'list', label: w.asList },
      ]}
    />
  )
  return (
    <Page title={w.title} about={w.about} above={<TextLink to="/networks">{networkMessages.back}</TextLink>} actions={choice}>
      <Loaded of={topology}>{(data) => <View topology={data} kind={kind} />}</Loaded>
    </Page>
  )
}

function View({ topology, kind }: { topology: Topology; kind: 'map' | 'list' }) {
  const [reach, setReach] = useState<Reach | null>(null)
  if (topology.networks.length + topology.vms.length === 0)
    return (
      <Card flush>
        <Empty icon="network" title={w.emptyTitle} about={w.emptyAbout} />
      </Card>
    )
  return (
    <>
      {kind === 'map' ? <MapCanvas topology={topology} reach={reach} /> : <MapList topology={topology} />}
      {topology.vms.length > 0 && <MapReach topology={topology} onAnswer={setReach} />}
    </>
  )
}
