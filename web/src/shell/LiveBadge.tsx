import { useQueryClient } from '@tanstack/react-query'
import { useServerFailing } from '../api/server-health.ts'
import type { FeedState } from '../live/feed.ts'
import { Status, type Tone } from '../ui/Status.tsx'
import { shellMessages as w } from '../words/words.ts'
import css from './shell.module.css'

/** `failing`: the event stream is open, but the server answers requests with errors. */
type State = FeedState | 'failing'

const TONES: Record<State, Tone> = { connecting: 'busy', live: 'good', polling: 'busy', failing: 'bad', offline: 'bad' }
const ABOUT: Record<State, string> = {
  connecting: w.connectingAbout,
  live: w.liveAbout,
  polling: w.pollingAbout,
  failing: w.failingAbout,
  offline: w.offlineAbout,
}

export function LiveBadge({ state: feed }: { state: FeedState }) {
  const isFailing = useServerFailing(useQueryClient().getQueryCache())
  const state: State = isFailing && feed !== 'offline' ? 'failing' : feed
  return (
    <output className={css['live']} data-state={state} title={ABOUT[state]}>
      <Status tone={TONES[state]}>{w[state]}</Status>
    </output>
  )
}
