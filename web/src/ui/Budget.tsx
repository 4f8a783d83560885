// Budgets of API keys and members: what is left of one, and the form that sets it.
import type { Body, Invitation, Token } from '@berth/sdk'
import { NumberInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { fieldError } from '../api/errors.ts'
import { budgetMessages as w } from '../words/words.ts'
import { Dialog } from './Dialogs.tsx'
import { Form } from './Form.tsx'

type BudgetInput = Body<'createToken'>['budget']

export interface BudgetText {
  monthlyAmount: string
  maxVms: string
  labelSelector: string
}

export const NO_BUDGET: BudgetText = { monthlyAmount: '', maxVms: '', labelSelector: '' }

/** Null where nothing is limited. */
export function toBudget({ monthlyAmount, maxVms, labelSelector: typed }: BudgetText): BudgetInput {
  const labelSelector = typed.trim()
  if (monthlyAmount === '' && maxVms === '' && labelSelector === '') return null
  return { monthlyAmount: monthlyAmount || null, maxVms: maxVms === '' ? null : Number(maxVms), labelSelector: labelSelector || null }
}

interface FieldsProps {
  value: BudgetText
  onChange: (value: BudgetText) => void
  error: Error | null
}

export function BudgetFields({ value, onChange, error }: FieldsProps) {
  const propsOf = (name: keyof BudgetText) => ({
    value: value[name],
    error: fieldError(error, `budget.${name}`) ?? fieldError(error, name),
  })
  return (
    <>
      <TextInput
        label={w.monthlyAmount}
        description={w.monthlyAmountHint}
        {...propsOf('monthlyAmount')}
        onChange={(event) => onChange({ ...value, monthlyAmount: event.currentTarget.value.trim() })}
        inputMode="decimal"
        maxLength={16}
      />
      <NumberInput
        label={w.maxVms}
        description={w.maxVmsHint}
        {...propsOf('maxVms')}
        onChange={(next) => onChange({ ...value, maxVms: String(next) })}
        min={0}
        allowNegative={false}
        allowDecimal={false}
      />
      <TextInput
        label={w.labelSelector}
        description={w.labelSelectorHint}
        {...propsOf('labelSelector')}
        onChange={(event) => onChange({ ...value, labelSelector: event.currentTarget.value })}
        maxLength={1000}
      />
    </>
  )
}

interface ChangeProps {
  /** Whose it is. */
  name: string
  budget: Token['budget']
  save: (budget: BudgetInput) => Promise<unknown>
  invalidates: string[]
  onClose: () => void
}

export function ChangeBudget({ name, budget, save, invalidates, onClose }: ChangeProps) {
  const { monthlyAmount = null, maxVms = null, labelSelector = null } = budget ?? {}
  const [value, setValue] = useState<BudgetText>({
    monthlyAmount: monthlyAmount ?? '',
    maxVms: maxVms === null ? '' : String(maxVms),
    labelSelector: labelSelector ?? '',
  })
  const change = useWrite(() => save(toBudget(value)), { inForm: true, invalidates, successMessage: w.changed, onDone: onClose })
  return (
    <Dialog title={w.title(name)} onClose={onClose}>
      <Form onSubmit={() => change.mutate()} busy={change.isPending} error={change.error} submit={w.change} onCancel={onClose}>
        <BudgetFields value={value} onChange={setValue} error={change.error} />
      </Form>
    </Dialog>
  )
}

/** What is left of it, in a cell of a list. */
export function BudgetLeft({ budget }: { budget: Token['budget'] }) {
  if (!budget) return <span className="muted">{w.none}</span>
  const { monthlyAmount, used, remaining, maxVms, vms, labelSelector } = budget
  return (
    <>
      {monthlyAmount !== null && <div>{w.used(used, monthlyAmount)}</div>}
      {remaining !== null && <div className="muted">{w.remaining(remaining)}</div>}
      {maxVms !== null && <div>{w.vms(vms, maxVms)}</div>}
      {labelSelector !== null && <div className="muted">{w.forLabels(labelSelector)}</div>}
    </>
  )
}

/** Of one of which nothing is used yet. */
export function BudgetLimits({ budget }: { budget: Invitation['budget'] }) {
  if (!budget) return <span className="muted">{w.none}</span>
  const { monthlyAmount, maxVms, labelSelector } = budget
  return (
    <>
      {monthlyAmount !== null && <div>{w.month(monthlyAmount)}</div>}
      {maxVms !== null && <div>{w.upTo(maxVms)}</div>}
      {labelSelector !== null && <div className="muted">{w.forLabels(labelSelector)}</div>}
    </>
  )
}
