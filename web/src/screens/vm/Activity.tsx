import { Collapse } from '@mantine/core'
import type { Action, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vmActionsQuery } from '../../queries/vms.ts'
import { actionTitle } from '../../ui/action-title.ts'
import { formatDuration } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Card } from '../../ui/Page.tsx'
import { Paged } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Steps } from '../../ui/Steps.tsx'
import { Time } from '../../ui/Time.tsx'
import { vmMessages as w } from '../../words/words.ts'
import css from './vm.module.css'

export function Activity({ vm }: { vm: Vm }) {
  const { search } = usePaging()
  const actions = useQuery(vmActionsQuery(vm.id, { page: search.page, limit: search.limit }))
  return (
    <Card flush>
      <Paged of={actions} empty={<Empty icon="pulse" title={w.activityEmpty} about={w.activityEmptyAbout} />}>
        {(items) => (
          <ul className={css['activity']}>
            {items.map((action) => (
              <ActionEntry key={action.id} action={action} />
            ))}
          </ul>
        )}
      </Paged>
    </Card>
  )
}

function ActionEntry({ action }: { action: Action }) {
  const [open, setOpen] = useState(action.status === 'RUNNING' || action.status === 'FAILED')
  const { startedAt, completedAt } = action
  return (
    <li className={css['entry']}>
      <button type="button" className={css['entryHead']} aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className={css['chevron']} data-open={open}>
          <Icon name="right" size={14} />
        </span>
        <strong>{actionTitle(action.action)}</strong>
        <StatusBadge status={action.status} working />
        <span className={css['entryTime']}>
          <Time at={action.createdAt} />
          {startedAt && completedAt && ` · ${w.duration(formatDuration(Date.parse(completedAt) - Date.parse(startedAt)))}`}
        </span>
      </button>
      {action.error && <p className={css['entryError']}>{action.error}</p>}
      {action.initialization?.errors.map((error) => (
        <p key={error} className={css['entryError']}>
          {error}
        </p>
      ))}
      <Collapse expanded={open}>
        <div className={css['entrySteps']}>
          <Steps steps={action.steps} />
          {action.initialization?.output && <pre aria-label={w.initializationOutput}>{action.initialization.output}</pre>}
        </div>
      </Collapse>
    </li>
  )
}
