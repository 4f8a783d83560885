import { commonMessages as w } from '../words/words.ts'
import { formatMoney } from './format.ts'
import { Time } from './Time.tsx'

interface Props {
  billing: { priceMonthly: string; nextRenewalAt: string }
  currency: string
}

/** With the next renewal below it. */
export const MonthlyPrice = ({ billing, currency }: Props) => (
  <div>
    {formatMoney(billing.priceMonthly, currency)}
    <div className="muted">
      {w.renews} <Time at={billing.nextRenewalAt} as="date" />
    </div>
  </div>
)
