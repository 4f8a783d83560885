import type { ReactNode } from 'react'
import { statusNames } from '../words/words.ts'
import { formatConstant } from './format.ts'
import css from './status.module.css'

export type Tone = 'good' | 'busy' | 'idle' | 'bad' | 'held'

const TONES: Record<string, Tone> = {
  RUNNING: 'good',
  ACTIVE: 'good',
  AVAILABLE: 'good',
  CONFIGURED: 'good',
  COMPLETED: 'good',
  SUCCEEDED: 'good',
  ANSWERED: 'good',
  ATTACHED: 'good',
  PROVISIONING: 'busy',
  REBUILDING: 'busy',
  UPGRADING: 'busy',
  PENDING: 'busy',
  PROCESSING: 'busy',
  CREATING: 'busy',
  RESTORING: 'busy',
  DELETING: 'busy',
  OPEN: 'busy',
  ATTACHING: 'busy',
  DETACHING: 'busy',
  MANUAL: 'held',
  SUSPENDED: 'held',
  PAST_DUE: 'held',
  UNMANAGED: 'held',
  UNDONE: 'held',
  ERROR: 'bad',
  FAILED: 'bad',
  EXHAUSTED: 'bad',
}

export const toneOf = (status: string): Tone => TONES[status] ?? 'idle'

/** Conveys the status by text and shape, not by colour alone. */
export const Status = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={css['status']} data-tone={tone}>
    <span className={css['dot']} aria-hidden="true" />
    {children}
  </span>
)

/** A status that this dashboard does not know is shown by its constant. */
export const statusName = (status: string): string => statusNames[status] ?? formatConstant(status)

/** `working`: the status of an action, where RUNNING means in progress. */
export const StatusBadge = ({ status, working = false }: { status: string; working?: boolean }) => (
  <Status tone={working && status === 'RUNNING' ? 'busy' : toneOf(status)}>{statusName(status)}</Status>
)
