import { Status, toneOf } from '../../ui/Status.tsx'
import { vmsMessages as w } from '../../words/words.ts'
import css from './vms.module.css'

interface Running {
  action: string
  progress: number
}

type VmStatusName = keyof typeof w.statuses

interface Props {
  name: string
  status: VmStatusName
  isShelved?: boolean
  /** Its host does not answer, so the status is what was known before. */
  isUnknown?: boolean
  running?: Running | null
}

/** The status of the VM, or its running action with progress. */
export function VmStatus({ name, status, isShelved = false, isUnknown = false, running }: Props) {
  if (isUnknown && !running && status === 'RUNNING') return <Status tone="bad">{w.unknown}</Status>
  if (!running) return <Status tone={toneOf(status)}>{isShelved && status === 'STOPPED' ? w.shelved : w.statuses[status]}</Status>
  return (
    <span className={css['working']}>
      <Status tone="busy">{w.actionNames[running.action] ?? running.action}</Status>
      <progress className="hidden" max={100} value={running.progress} aria-label={w.progressOf(name)} />
      <span className={css['bar']} aria-hidden="true">
        <span style={{ width: `${running.progress}%` }} />
      </span>
    </span>
  )
}
