import { Button } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { hasCode } from '../../api/errors.ts'
import { formatMoney } from '../../ui/format.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../messages/create-vm.ts'
import css from './create-vm.module.css'
import { isComplete, toRequest, type VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  facts: [string, string][]
  busy: boolean
  error: unknown
  onSubmit: () => void
  onShowCode: () => void
}

/** Price from a dry run of the exact request: validation and placement run, nothing changes. Submit is disabled until the price is shown. */
export function Summary({ form, facts, busy, error, onSubmit, onShowCode }: Props) {
  const [settled] = useDebouncedValue(form, 300)
  const request = toRequest(settled)
  const quote = useQuery({
    queryKey: ['quote', request],
    queryFn: ({ signal }) => berth.vms.quoteCreate(request, { signal, maxRetries: 1 }),
    enabled: isComplete(settled),
    staleTime: 10_000,
    gcTime: 0, // a revisited form gets a fresh price
  })
  const isSettled = settled === form
  const refusal = isSettled ? quote.error : null
  const price = isSettled ? quote.data : undefined
  const amount = (of: 'charge' | 'monthly' | 'balanceAfter'): string => (price ? formatMoney(price[of], price.currency) : '…')
  const problem = error ?? refusal
  return (
    <div className={css['summary']}>
      <Card title={w.summary}>
        <Stack gap={14}>
          <dl className={css['lines']}>
            {facts.map(([name, value]) => (
              <Line key={name} name={name} value={value} />
            ))}
            {isComplete(form) && !refusal && (
              <>
                <div className={css['total']}>
                  <Line name={w.dueToday} value={amount('charge')} />
                </div>
                <Line name={w.monthly} value={amount('monthly')} />
                <Line name={w.balanceAfter} value={amount('balanceAfter')} />
              </>
            )}
          </dl>
          {!isComplete(form) && <p className="muted">{w.incomplete}</p>}
          <ErrorAlert error={problem} />
          {hasCode(problem, 'insufficient_funds') && (
            <ButtonLink to="/wallet" variant="default" fullWidth>
              {w.addFunds}
            </ButtonLink>
          )}
          <Button fullWidth size="md" loading={busy} disabled={!isComplete(form) || !price || refusal !== null} onClick={onSubmit}>
            {w.submit}
          </Button>
          <Button fullWidth variant="subtle" disabled={!isComplete(form)} onClick={onShowCode}>
            {w.showCode}
          </Button>
        </Stack>
      </Card>
    </div>
  )
}

const Line = ({ name, value }: { name: string; value: string }) => (
  <div className={css['line']}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
