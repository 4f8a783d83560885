import { NativeSelect } from '@mantine/core'
import type { Reach } from '@berth/sdk'
import { useState } from 'react'
import { networkMessages } from '../../../words/words.ts'
import { ReachCheck } from '../../vm/ReachCheck.tsx'
import type { Topology } from './layout.ts'

const w = networkMessages.map

/** The same question as on the page of a VM; its answer is drawn on the map. */
export function MapReach({ topology: { vms }, onAnswer }: { topology: Topology; onAnswer: (reach: Reach | null) => void }) {
  const [from, setFrom] = useState(vms[0]!.id)
  return (
    <ReachCheck title={w.reach} about={w.reachAbout} from={from} vms={vms} toLabel={w.to} first={vms[1]?.id} onAnswer={onAnswer}>
      <NativeSelect
        label={w.from}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        data={vms.map(({ id, name }) => ({ value: id, label: name }))}
      />
    </ReachCheck>
  )
}
