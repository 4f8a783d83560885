import type { Wallet } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { walletMessages as w } from '../../messages/wallet.ts'
import { forecast, type Renewal } from './renewals.ts'

export function Forecast({ wallet }: { wallet: Wallet | undefined }) {
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  if (!wallet) return null
  const renewals = forecast(vms, wallet).slice(0, 10)
  const columns: Column<Renewal>[] = [
    { head: w.vm, truncate: ({ vm }) => vm.name, cell: ({ vm }) => vm.name },
    { head: w.renews, cell: ({ vm }) => <Time at={vm.billing.nextRenewalAt} as="date" /> },
    { head: w.price, right: true, cell: ({ vm }) => formatMoney(vm.billing.priceMonthly, wallet.currency) },
    { head: w.projectedBalance, right: true, cell: ({ balance }) => <Left balance={balance} currency={wallet.currency} /> },
  ]
  return (
    <Card flush title={w.forecast} about={w.forecastAbout}>
      {renewals.length === 0 ? (
        <p className="muted" style={{ padding: '18px 20px' }}>
          {w.forecastNone}
        </p>
      ) : (
        <Table caption={w.forecast} columns={columns} rows={renewals} rowKey={({ vm }) => vm.id} />
      )}
    </Card>
  )
}

const Left = ({ balance, currency }: { balance: number; currency: string }) => (
  <span style={balance < 0 ? { color: 'var(--mantine-color-error)' } : undefined}>{formatMoney(balance, currency)}</span>
)
