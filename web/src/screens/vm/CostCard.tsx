import { isRenewed, type Vm } from '@berth/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { useCurrency } from '../../api/session.ts'
import { addressesQuery } from '../../queries/network.ts'
import { volumesQuery } from '../../queries/vms.ts'
import { formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Time, useNow } from '../../ui/Time.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { monthly, monthStart, spent, toCome, total } from './cost.ts'
import { Lines } from './Lines.tsx'
import { TrafficMeter } from './Traffic.tsx'

const w = vmMessages.cost

/** What this month's entries of the ledger say about the VM. */
const costQuery = (vmId: string, dateFrom: string) =>
  queryOptions({
    queryKey: ['wallet', 'of', vmId, dateFrom],
    queryFn: ({ signal }) => berth.wallet.transactions({ referenceId: vmId, dateFrom }, { signal }).all(),
    staleTime: 30_000,
  })

/** Everything is from the ledger and from what renewals will charge; it is only added up here. */
export function CostCard({ vm }: { vm: Vm }) {
  const currency = useCurrency()
  const now = useNow(60_000)
  const ledger = useQuery(costQuery(vm.id, monthStart(now).toISOString()))
  const volumes = (useQuery(volumesQuery({ vmId: vm.id, limit: 100 })).data?.items ?? []).filter(({ vmId }) => vmId === vm.id)
  const addresses = (useQuery(addressesQuery({ vmId: vm.id, limit: 100 })).data?.items ?? []).filter(({ vmId }) => vmId === vm.id)
  const extras = [...volumes, ...addresses]
  const money = (amount: string): string => formatMoney(amount, currency)
  const due = isRenewed(vm) ? toCome([vm], now) : '0.00'
  const soFar = ledger.data && spent(ledger.data)
  return (
    <Card title={w.title} actions={<StatusBadge status={vm.billing.status} />}>
      <Lines
        lines={[
          ...(soFar === undefined ? [] : [[w.soFar, money(soFar)] as const]),
          ...(soFar === undefined || Number(due) === 0 ? [] : [[w.byMonthEnd, money(total(soFar, due))] as const]),
          [w.monthly, <strong key="">{money(vm.billing.priceMonthly)}</strong>],
          ...(Number(vm.copiesPriceMonthly) > 0 ? [[w.copies, money(vm.copiesPriceMonthly)] as const] : []),
          ...(Number(monthly(extras)) > 0 ? [[w.extras(volumes.length, addresses.length), money(monthly(extras))] as const] : []),
          [vmMessages.facts.renews, isRenewed(vm) ? <Time key="" at={vm.billing.nextRenewalAt} as="date" /> : commonMessages.none],
          [vmMessages.facts.traffic, <TrafficMeter key="" vm={vm} showsShare />],
        ]}
      />
      {ledger.data && (
        <p style={{ marginTop: 12 }}>
          <TextLink to="/wallet">{w.ledger}</TextLink>
        </p>
      )}
    </Card>
  )
}
