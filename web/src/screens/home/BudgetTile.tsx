import type { Member } from '@berth/sdk'
import { budgetMessages as w } from '../../words/words.ts'
import { formatMoney } from '../../ui/format.ts'
import { Tile } from './Tile.tsx'

interface Props {
  label: string
  budget: NonNullable<Member['budget']>
  currency: string
}

/** What is left of what the user, or a project, may spend. */
export function BudgetTile({ label, budget, currency }: Props) {
  const { monthlyAmount, remaining, used, maxVms, vms, labelSelector } = budget
  const parts = [
    monthlyAmount !== null && w.used(used, monthlyAmount),
    maxVms !== null && w.vms(vms, maxVms),
    labelSelector !== null && w.forLabels(labelSelector),
  ]
  const value = remaining === null ? w.none : w.left(formatMoney(remaining, currency))
  return <Tile to="/members" icon="wallet" label={label} value={value} about={parts.filter(Boolean).join(', ')} error={false} />
}
