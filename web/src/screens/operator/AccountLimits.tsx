import { Button, NumberInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRequest, type Limit } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, limitName, operatorMessages } from '../../words/words.ts'

const w = operatorMessages.accounts

const usedOf = ({ used, limit, isDefault }: Limit): string =>
  `${used === null ? '' : `${used} / `}${limit}${isDefault ? ` (${w.default})` : ''}`

export function AccountLimits({ accountId, limits }: { accountId: string; limits: Limit[] }) {
  const [edited, setEdited] = useState<Limit | null>(null)
  const columns: Column<Limit>[] = [
    { head: w.limit, cell: ({ name }) => limitName(name) },
    { head: w.used, cell: usedOf, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (limit) => (
        <Button variant="default" size="xs" aria-label={w.changeLimit(limitName(limit.name))} onClick={() => setEdited(limit)}>
          {w.change}
        </Button>
      ),
    },
  ]
  return (
    <Card flush title={w.limits}>
      <Table caption={w.limits} columns={columns} rows={limits} rowKey={({ name }) => name} />
      {edited && <ChangeLimit accountId={accountId} limit={edited} onClose={() => setEdited(null)} />}
    </Card>
  )
}

function ChangeLimit({ accountId, limit, onClose }: { accountId: string; limit: Limit; onClose: () => void }) {
  const [value, setValue] = useState<number | ''>(limit.limit)
  const write = useWrite(
    () => operatorRequest('PUT', `/accounts/${accountId}/limits/${limit.name}`, { limit: value === '' ? null : value }),
    {
      inForm: true,
      invalidates: ['operator'],
      successMessage: commonMessages.saved,
      onDone: onClose,
    },
  )
  return (
    <Dialog title={w.changeLimit(limitName(limit.name))} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={commonMessages.save} onCancel={onClose}>
        <NumberInput
          label={w.newLimit}
          description={w.newLimitHint}
          min={0}
          value={value}
          onChange={(next) => setValue(next === '' ? '' : Number(next))}
          error={fieldError(write.error, 'limit')}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
