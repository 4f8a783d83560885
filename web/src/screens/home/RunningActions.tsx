import type { Action } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { TextLink } from '../../ui/links.tsx'
import { homeMessages as w } from '../../words/words.ts'
import { VmStatus } from '../vms/VmStatus.tsx'
import css from './home.module.css'

export function RunningActions({ actions }: { actions: Action[] }) {
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  if (actions.length === 0) return <p className="muted">{w.noActions}</p>
  return (
    <ul className={css['list']}>
      {actions.map((action) => {
        const name = vms.find(({ id }) => id === action.vmId)?.name ?? action.vmId
        return (
          <li key={action.id}>
            <TextLink to="/vms/$vmId" params={{ vmId: action.vmId }}>
              {name}
            </TextLink>
            <VmStatus name={name} status="RUNNING" running={action} />
          </li>
        )
      })}
    </ul>
  )
}
