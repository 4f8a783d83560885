import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { vmActionsQuery } from '../../queries/vms.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { vmMessages as w } from '../../words/words.ts'
import { useRecentEvents } from '../events/recent.ts'
import { happenings } from './happened.ts'
import css from './overview.module.css'

export function HappenedCard({ vm }: { vm: Vm }) {
  const actions = useQuery(vmActionsQuery(vm.id, { limit: 8 })).data?.items ?? []
  const events = useRecentEvents(50).data ?? []
  const all = happenings(vm.id, actions, events)
  return (
    <Card
      title={w.happened.title}
      actions={
        <TextLink to="/vms/$vmId" params={{ vmId: vm.id }} search={{ tab: 'activity' }}>
          {w.tabs.activity}
        </TextLink>
      }
    >
      {all.length === 0 ? (
        <p className="muted">{w.activityEmpty}</p>
      ) : (
        <ul className={css['happened']}>
          {all.map(({ key, at, text, tone }) => (
            <li key={key} data-tone={tone}>
              <span className={css['sentence']}>{text}</span>
              <Time at={at} as="ago" />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
