// The budget of an API key: what is left of it, and the form that sets it.
import type { Body, Token } from '@berth/sdk'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { settingsMessages } from '../../messages/settings.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'

const w = settingsMessages.keys

export interface BudgetText {
  monthlyAmount: string
  maxVms: string
  labelSelector: string
}

export const NO_BUDGET: BudgetText = { monthlyAmount: '', maxVms: '', labelSelector: '' }

/** Null where nothing is limited. */
export function toBudget({ monthlyAmount, maxVms, labelSelector }: BudgetText): Body<'createToken'>['budget'] {
  if (monthlyAmount === '' && maxVms === '' && labelSelector === '') return null
  return { monthlyAmount: monthlyAmount || null, maxVms: maxVms === '' ? null : Number(maxVms), labelSelector: labelSelector || null }
}

interface FieldsProps {
  value: BudgetText
  onChange: (value: BudgetText) => void
  error: Error | null
}

export function BudgetFields({ value, onChange, error }: FieldsProps) {
  const field = (name: keyof BudgetText, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      value={value[name]}
      onChange={(event) => onChange({ ...value, [name]: event.currentTarget.value.trim() })}
      error={fieldError(error, `budget.${name}`) ?? fieldError(error, name)}
      inputMode={name === 'monthlyAmount' ? 'decimal' : name === 'maxVms' ? 'numeric' : 'text'}
      maxLength={name === 'labelSelector' ? 1000 : 16}
    />
  )
  return (
    <>
      {field('monthlyAmount', w.monthlyAmount, w.monthlyAmountHint)}
      {field('maxVms', w.maxVms, w.maxVmsHint)}
      {field('labelSelector', w.labelSelector, w.labelSelectorHint)}
    </>
  )
}

export function ChangeBudget({ apiKey, onClose }: { apiKey: Token; onClose: () => void }) {
  const { monthlyAmount = null, maxVms = null, labelSelector = null } = apiKey.budget ?? {}
  const [value, setValue] = useState<BudgetText>({
    monthlyAmount: monthlyAmount ?? '',
    maxVms: maxVms === null ? '' : String(maxVms),
    labelSelector: labelSelector ?? '',
  })
  const change = useWrite(() => berth.tokens.update(apiKey.id, { budget: toBudget(value) }), {
    inForm: true,
    invalidates: ['api-keys'],
    successMessage: w.budgetChanged,
    onDone: onClose,
  })
  return (
    <Dialog title={w.budgetTitle(apiKey.name)} onClose={onClose}>
      <Form onSubmit={() => change.mutate()} busy={change.isPending} error={change.error} submit={w.changeBudget} onCancel={onClose}>
        <BudgetFields value={value} onChange={setValue} error={change.error} />
      </Form>
    </Dialog>
  )
}

/** What is left of it, in a cell of the list. */
export function BudgetLeft({ apiKey: { budget } }: { apiKey: Token }) {
  if (!budget) return <span className="muted">{w.noBudget}</span>
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
