// The steps of an action with their status and duration.
import type { Action } from '@berth/sdk'
import { formatDuration, formatConstant } from './format.ts'
import { Icon, type IconName } from './Icon.tsx'
import { statusName } from './Status.tsx'
import { stepNames } from '../words/words.ts'
import css from './steps.module.css'
import { useNow } from './Time.tsx'

type Step = Pick<Action['steps'][number], 'name' | 'status' | 'startedAt' | 'completedAt'>

const MARKS: Record<Step['status'], IconName | null> = {
  PENDING: null,
  RUNNING: null,
  COMPLETED: 'check',
  FAILED: 'cross',
  UNDONE: 'restart',
}

export function Steps({ steps }: { steps: readonly Step[] }) {
  const now = useNow(steps.some(({ status }) => status === 'RUNNING') ? 250 : null)
  return (
    <ol className={css['steps']}>
      {steps.map((step) => {
        const mark = MARKS[step.status]
        return (
          <li key={step.name} data-status={step.status}>
            <span className={css['mark']}>{mark && <Icon name={mark} size={12} />}</span>
            <span className={css['name']}>
              {stepNames[step.name] ?? formatConstant(step.name.replaceAll('-', ' '))}
              <span className="hidden">{` ${statusName(step.status)}`}</span>
            </span>
            <span className={css['time']}>{step.startedAt && formatDuration(lengthOf(step, now))}</span>
          </li>
        )
      })}
    </ol>
  )
}

const lengthOf = ({ startedAt, completedAt }: Step, now: number): number =>
  (completedAt ? Date.parse(completedAt) : now) - Date.parse(startedAt!)
