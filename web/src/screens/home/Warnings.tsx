import { Alert } from '@mantine/core'
import type { BandwidthUsage, Wallet } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { maintenancesQuery, vmQuery, vmsQuery } from '../../queries/vms.ts'
import { formatDateTime, formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { homeMessages } from '../../words/words.ts'
import css from './home.module.css'

const w = homeMessages.warnings

export function Warnings({ wallet, throttled }: { wallet: Wallet | undefined; throttled: BandwidthUsage[] }) {
  const { items: broken = [], pagination } = useQuery(vmsQuery({ status: 'ERROR', limit: 3 })).data ?? {}
  const moreBroken = (pagination?.total ?? 0) - broken.length
  const maintenances = useQuery(maintenancesQuery).data ?? []
  const low = wallet && Number(wallet.balance) < Number(wallet.dueNext7Days)
  return (
    <>
      {low && (
        <Warning colour="orange" link={<TextLink to="/wallet">{w.addFunds}</TextLink>}>
          {w.lowBalance(formatMoney(wallet.dueNext7Days, wallet.currency))}
        </Warning>
      )}
      {maintenances.map(({ id, startsAt, endsAt, vmIds, text }) => (
        <Warning key={id} colour="blue" link={<Concerned vmIds={vmIds} />}>
          {w.maintenance(formatDateTime(startsAt), formatDateTime(endsAt), text)}
        </Warning>
      ))}
      {throttled.slice(0, 3).map(({ vmId, vmName }) => (
        <Warning key={vmId} colour="orange" link={<TextLink to="/bandwidth">{w.buy}</TextLink>}>
          {w.throttled(vmName)}
        </Warning>
      ))}
      {broken.map(({ id, name }) => (
        <Warning
          key={id}
          colour="red"
          link={
            <TextLink to="/vms/$vmId" params={{ vmId: id }}>
              {w.view}
            </TextLink>
          }
        >
          {w.error(name)}
        </Warning>
      ))}
      {moreBroken > 0 && (
        <Warning
          colour="red"
          link={
            <TextLink to="/vms" search={{ status: 'ERROR' }}>
              {w.view}
            </TextLink>
          }
        >
          {w.moreErrors(moreBroken)}
        </Warning>
      )}
    </>
  )
}

const NAMED = 5

function Concerned({ vmIds }: { vmIds: string[] }) {
  const more = vmIds.length - NAMED
  return (
    <span className={css['concerned']}>
      {w.concerns}
      {vmIds.slice(0, NAMED).map((vmId) => (
        <NamedVm key={vmId} vmId={vmId} />
      ))}
      {more > 0 && <TextLink to="/vms">{w.more(more)}</TextLink>}
    </span>
  )
}

function NamedVm({ vmId }: { vmId: string }) {
  const { data: vm } = useQuery({ ...vmQuery(vmId), refetchInterval: false })
  return (
    <TextLink to="/vms/$vmId" params={{ vmId }}>
      {vm?.name ?? vmId}
    </TextLink>
  )
}

const Warning = ({ colour, link, children }: { colour: string; link: ReactNode; children: string }) => (
  <Alert color={colour}>
    <div className={css['warning']}>
      <span>{children}</span>
      {link}
    </div>
  </Alert>
)
