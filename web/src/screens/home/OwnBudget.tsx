import type { Member } from '@berth/sdk'
import { budgetMessages as w } from '../../messages/budgets.ts'
import { formatMoney } from '../../ui/format.ts'
import { Tile } from './Tile.tsx'

/** What is left of what the user may spend in this account. */
export function OwnBudget({ budget, currency }: { budget: NonNullable<Member['budget']>; currency: string }) {
  const { monthlyAmount, remaining, used, maxVms, vms, labelSelector } = budget
  const parts = [
    monthlyAmount !== null && w.used(used, monthlyAmount),
    maxVms !== null && w.vms(vms, maxVms),
    labelSelector !== null && w.forLabels(labelSelector),
  ]
  const value = remaining === null ? w.none : w.left(formatMoney(remaining, currency))
  return <Tile to="/members" icon="wallet" label={w.own} value={value} about={parts.filter(Boolean).join(', ')} error={false} />
}
