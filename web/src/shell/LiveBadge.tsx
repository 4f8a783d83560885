import { Tooltip } from '@mantine/core'
import type { FeedState } from '../live/feed.ts'
import { Status, type Tone } from '../ui/Status.tsx'
import { shellMessages as w } from '../messages/shell.ts'
import css from './shell.module.css'

const TONES: Record<FeedState, Tone> = { connecting: 'busy', live: 'good', polling: 'busy', offline: 'bad' }
const ABOUT: Record<FeedState, string> = {
  connecting: w.connectingAbout,
  live: w.liveAbout,
  polling: w.pollingAbout,
  offline: w.offlineAbout,
}

export const LiveBadge = ({ state }: { state: FeedState }) => (
  <Tooltip label={ABOUT[state]}>
    <output className={css['live']} data-state={state}>
      <Status tone={TONES[state]}>{w[state]}</Status>
    </output>
  </Tooltip>
)
