import { NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { Alert } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { useIsProject } from '../../api/session.ts'
import { fieldError } from '../../api/errors.ts'
import { alertMessages as w, commonMessages } from '../../words/words.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'

const AT_ONCE = new Set<Alert['metric']>(['trafficPercent', 'balanceDays'])
const choices = <Key extends string>(words: Record<Key, string>) =>
  (Object.keys(words) as Key[]).map((value) => ({ value, label: words[value] }))

/** A new alert, or a change of one that there is: that one keeps what it measures. */
export function AlertForm({ alert, onClose }: { alert?: Alert; onClose: () => void }) {
  const [name, setName] = useState(alert?.name ?? '')
  const [metric, setMetric] = useState<Alert['metric']>(alert?.metric ?? 'cpuPercent')
  const [comparison, setComparison] = useState<Alert['comparison']>(alert?.comparison ?? 'ABOVE')
  const [threshold, setThreshold] = useState<number | string>(alert?.threshold ?? 90)
  const [forMinutes, setMinutes] = useState<number | string>(alert?.forMinutes ?? 5)
  const [selector, setSelector] = useState(alert?.labelSelector ?? '')
  const isProject = useIsProject()
  const isAtOnce = AT_ONCE.has(metric)
  const isOfAccount = metric === 'balanceDays'
  const condition = { name, comparison, threshold: Number(threshold), ...(!isAtOnce && { forMinutes: Number(forMinutes) }) }
  const chosen = selector.trim() === '' || isOfAccount ? undefined : selector.trim()
  const write = useWrite(
    () => {
      if (!alert) return berth.alerts.create({ ...condition, metric, ...(chosen !== undefined && { labelSelector: chosen }) })
      return berth.alerts.update(alert.id, alert.vmIds || isOfAccount ? condition : { ...condition, labelSelector: chosen ?? null })
    },
    {
      inForm: true,
      invalidates: ['alerts'],
      successMessage: (saved) => (alert ? commonMessages.saved : w.created(saved.name)),
      onDone: onClose,
    },
  )
  const submit = alert ? commonMessages.save : w.create
  return (
    <Dialog title={alert ? w.editing(alert.name) : w.create} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={submit} onCancel={onClose}>
        <TextInput
          label={commonMessages.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(write.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <NativeSelect
          label={w.metric}
          value={metric}
          onChange={(event) => setMetric(event.currentTarget.value as Alert['metric'])}
          data={choices(w.metrics).filter(({ value }) => value !== 'balanceDays' || !isProject)}
          disabled={alert !== undefined}
        />
        <NativeSelect
          label={w.comparison}
          value={comparison}
          onChange={(event) => setComparison(event.currentTarget.value as Alert['comparison'])}
          data={choices(w.comparisons)}
        />
        <NumberInput label={w.threshold} value={threshold} onChange={setThreshold} min={0} error={fieldError(write.error, 'threshold')} />
        {!isAtOnce && (
          <NumberInput
            label={w.forMinutes}
            value={forMinutes}
            onChange={setMinutes}
            min={1}
            max={60}
            allowDecimal={false}
            error={fieldError(write.error, 'forMinutes')}
          />
        )}
        {!isOfAccount && !alert?.vmIds && (
          <TextInput
            label={w.selector}
            description={w.selectorAbout}
            value={selector}
            onChange={(event) => setSelector(event.currentTarget.value)}
            error={fieldError(write.error, 'labelSelector')}
            maxLength={1_000}
            spellCheck={false}
          />
        )}
      </Form>
    </Dialog>
  )
}
