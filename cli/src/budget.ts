// Budgets of tokens, members and projects: their options and how they are shown.
import type { Token } from '@berth/sdk'
import { omitUndefined, parseInteger } from './options.ts'

type Budget = NonNullable<Token['budget']>
type Limits = Pick<Budget, 'monthlyAmount' | 'maxVms' | 'labelSelector'>

export interface BudgetOptions {
  budget?: string
  maxVms?: string
  budgetLabels?: string
}

/** `who`: what it is charged through or by. */
export const budgetOptions = (who: string): [string, string][] => [
  ['--budget <amount>', `what may be charged ${who} in a calendar month, such as 50.00; "none" for no limit`],
  ['--max-vms <number>', `how many VMs created ${who} may exist at a time; "none" for no limit`],
  ['--budget-labels <labels>', 'spend only on what has such labels: env=ci; "none" for everything'],
]

const orNone = (text: string | undefined): string | null | undefined => (text === 'none' ? null : text)

/** Undefined without any of the options. */
export function budgetOf({ budget, maxVms, budgetLabels }: BudgetOptions) {
  const vms = orNone(maxVms)
  const given = omitUndefined({
    monthlyAmount: orNone(budget),
    maxVms: typeof vms === 'string' ? parseInteger('--max-vms', vms) : vms,
    labelSelector: orNone(budgetLabels),
  })
  return Object.keys(given).length > 0 ? given : undefined
}

const vmsText = (count: number): string => `${count} VM${count === 1 ? '' : 's'}`

const vmsOf = ({ vms, maxVms }: Budget): string => (maxVms === null ? vmsText(vms) : `${vms} of ${vmsText(maxVms)}`)

const moneyText = ({ monthlyAmount, used, remaining }: Budget): string =>
  monthlyAmount === null ? `${used} used this month` : `${used} of ${monthlyAmount} used this month, ${remaining} left`

export const budgetText = (budget: Budget | null): string[] | undefined =>
  budget ? [moneyText(budget), vmsOf(budget), ...(budget.labelSelector === null ? [] : [`for labels ${budget.labelSelector}`])] : undefined

/** In a column of a list. */
export const usedText = (budget: Budget | null): string[] | undefined =>
  budget
    ? [
        ...(budget.monthlyAmount === null ? [] : [`${budget.used} of ${budget.monthlyAmount}`]),
        ...(budget.maxVms === null ? [] : [vmsOf(budget)]),
        ...(budget.labelSelector === null ? [] : [`labels ${budget.labelSelector}`]),
      ]
    : undefined

/** Of one of which nothing is used yet. */
export const limitsText = (limits: Limits | null): string[] | undefined =>
  limits
    ? [
        ...(limits.monthlyAmount === null ? [] : [`${limits.monthlyAmount} a month`]),
        ...(limits.maxVms === null ? [] : [vmsText(limits.maxVms)]),
        ...(limits.labelSelector === null ? [] : [`for labels ${limits.labelSelector}`]),
      ]
    : undefined
