import { isRenewed, type Wallet } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { imagesQuery } from '../../queries/images.ts'
import { addressesQuery } from '../../queries/network.ts'
import { vmChoicesQuery, volumesQuery } from '../../queries/vms.ts'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { walletMessages as w } from '../../words/words.ts'
import { forecast, type Renewable, type Renewal } from './renewals.ts'

const newest = { limit: 100 }

/** The newest 100 of each kind. */
function useRenewables(): Renewable[] {
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const volumes = useQuery(volumesQuery(newest)).data?.items ?? []
  const images = useQuery(imagesQuery(newest)).data?.items ?? []
  const addresses = useQuery(addressesQuery(newest)).data?.items ?? []
  return [
    ...vms.filter(isRenewed).map((vm) => ({ ...vm, kind: 'vm' as const })),
    ...volumes.map((volume) => ({ ...volume, kind: 'volume' as const })),
    ...images.flatMap(({ billing, ...image }) => (billing ? [{ ...image, billing, kind: 'image' as const }] : [])),
    ...addresses.map((address) => ({ ...address, kind: 'address' as const })),
  ]
}

export function Forecast({ wallet }: { wallet: Wallet | undefined }) {
  const items = useRenewables()
  if (!wallet) return null
  const renewals = forecast(items, wallet).slice(0, 10)
  const columns: Column<Renewal>[] = [
    { head: w.resource, grow: true, truncate: ({ item }) => item.name, cell: ({ item }) => `${w.kinds[item.kind]} ${item.name}` },
    { head: w.renews, cell: ({ item }) => <Time at={item.billing.nextRenewalAt} as="date" /> },
    { head: w.price, right: true, cell: ({ item }) => formatMoney(item.billing.priceMonthly, wallet.currency) },
    { head: w.projectedBalance, right: true, cell: ({ balance }) => <Left balance={balance} currency={wallet.currency} /> },
  ]
  return (
    <Card flush title={w.forecast} about={w.forecastAbout}>
      {renewals.length === 0 ? (
        <p className="muted" style={{ padding: '18px 20px' }}>
          {w.forecastNone}
        </p>
      ) : (
        <Table caption={w.forecast} columns={columns} rows={renewals} rowKey={({ item }) => item.id} />
      )}
    </Card>
  )
}

const Left = ({ balance, currency }: { balance: number; currency: string }) => (
  <span style={balance < 0 ? { color: 'var(--mantine-color-error)' } : undefined}>{formatMoney(balance, currency)}</span>
)
