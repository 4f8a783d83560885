import { Alert, Button } from '@mantine/core'
import type { CreateQuote } from '@berth/sdk'
import { hasCode } from '../../api/errors.ts'
import { formatMoney } from '../../ui/format.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { commonMessages, createVmMessages as w } from '../../words/words.ts'
import css from './create-vm.module.css'
import { isComplete, type VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  facts: [string, string][]
  price: CreateQuote | undefined
  /** What would be placed instead of what was asked for. */
  taken: string | null
  busy: boolean
  error: unknown
  onSubmit: () => void
  onShowCode: () => void
}

/** Submit is disabled until the price of exactly this request is shown. */
export function Summary({ form, facts, price, taken, busy, error, onSubmit, onShowCode }: Props) {
  const amount = (of: 'charge' | 'monthly' | 'balanceAfter'): string => (price ? formatMoney(price[of], price.currency) : '…')
  const submit = (
    <Button size="md" loading={busy} disabled={!isComplete(form) || !price} onClick={onSubmit}>
      {w.submit}
    </Button>
  )
  return (
    <div className={css['summary']}>
      <Card title={w.summary}>
        <Stack gap={14}>
          <dl className={css['lines']}>
            {facts.map(([name, value]) => (
              <Line key={name} name={name} value={value} />
            ))}
            {!error && (
              <>
                <Line isTotal name={w.dueToday} value={amount('charge')} />
                <Line name={form.count > 1 ? w.monthlyAll(form.count) : w.monthly} value={amount('monthly')} />
                {price?.balanceAfter !== null && <Line name={w.balanceAfter} value={amount('balanceAfter')} />}
              </>
            )}
          </dl>
          {taken !== null && <Alert color="yellow">{w.alternativeTaken(taken)}</Alert>}
          {!isComplete(form) && <p className="muted">{w.incomplete}</p>}
          {needsIpv4(error) ? (
            <Alert color="red" role="alert">
              {w.needsIpv4}
            </Alert>
          ) : (
            <ErrorAlert error={error} />
          )}
          {hasCode(error, 'insufficient_funds') && (
            <ButtonLink to="/wallet" variant="default" fullWidth>
              {w.addFunds}
            </ButtonLink>
          )}
          <div className={css['bar']}>
            <div className={css['barPrice']} aria-hidden="true">
              <span className="muted">{form.count > 1 ? w.dueTodayAll(form.count) : w.dueToday}</span>
              <strong>{error ? commonMessages.unknown : amount('charge')}</strong>
            </div>
            {submit}
          </div>
          <Button fullWidth variant="subtle" disabled={!isComplete(form)} onClick={onShowCode}>
            {w.showCode}
          </Button>
        </Stack>
      </Card>
    </div>
  )
}

/** The message of the API names its field, which the form calls otherwise. */
const needsIpv4 = (error: unknown): boolean => hasCode(error, 'unavailable') && error.message.includes('publicIpv4')

const Line = ({ name, value, isTotal = false }: { name: string; value: string; isTotal?: boolean }) => (
  <div className={`${css['line']} ${isTotal ? css['total'] : ''}`}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
