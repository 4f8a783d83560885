import { nullable, object, Type, type Static } from '../../http/api/schema.ts'
import { SELECTOR_WORDS } from '../labels/schema.ts'

const monthlyAmount = Type.String({
  pattern: '^\\d{1,10}(\\.\\d{1,2})?$',
  rule: 'must be an amount such as "50.00"',
  description: 'What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit',
})
const maxVms = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'How many VMs that were created through it may exist at a time; null = no limit',
})
const labelSelector = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: `It can be charged only for what has labels that meet all of these, ${SELECTOR_WORDS}; null = for everything`,
})

/** Of a change: what is left out stays as it is. */
export const BudgetInput = object({
  monthlyAmount: Type.Optional(nullable(monthlyAmount)),
  maxVms: Type.Optional(nullable(maxVms)),
  labelSelector: Type.Optional(nullable(labelSelector)),
})
export type BudgetInput = Static<typeof BudgetInput>

const limits = {
  monthlyAmount: nullable(Type.String({ description: 'Decimal with two places; null = no limit' })),
  maxVms: nullable(Type.Integer()),
  labelSelector: nullable(Type.String()),
}

export const BudgetLimits = object(limits, { title: 'BudgetLimits' })
export type BudgetLimits = Static<typeof BudgetLimits>

export const BudgetView = object(
  {
    ...limits,
    used: Type.String({
      description: 'What was charged through it in this calendar month (UTC), renewals included, less what was given back',
    }),
    remaining: nullable(
      Type.String({ description: 'What can still be charged this month: no more than is left to the tokens that it was made with' }),
    ),
    vms: Type.Integer({ description: 'VMs that were created through it and exist' }),
  },
  { title: 'Budget' },
)
export type BudgetView = Static<typeof BudgetView>
