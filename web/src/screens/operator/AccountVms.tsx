import { useQuery } from '@tanstack/react-query'
import { useWrite } from '../../api/client.ts'
import { operate, operatorVmsQuery, type OperatorVm } from '../../api/operator.ts'
import { Card } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { StatusOf } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonWords } from '../../messages/common.ts'
import { operatorWords } from '../../messages/operator.ts'
import { vmsWords } from '../../messages/vms.ts'

const w = operatorWords.accounts

type Verb = keyof typeof w.vmVerbs

const verbsFor = (status: string): Verb[] =>
  status === 'SUSPENDED' ? ['unsuspend'] : status === 'UNMANAGED' ? ['adopt'] : ['suspend', 'unmanage']

export function AccountVms({ accountId }: { accountId: string }) {
  const vms = useQuery(operatorVmsQuery({ account: accountId, limit: 100 }))
  const act = useWrite(({ id, verb }: { id: string; verb: Verb }) => operate<{ message: string }>('POST', `/vms/${id}/${verb}`), {
    changes: ['operator'],
    says: ({ message }) => message,
  })
  const columns: Column<OperatorVm>[] = [
    { head: vmsWords.columns.name, cell: ({ name }) => <strong>{name}</strong> },
    { head: vmsWords.columns.status, cell: ({ status }) => <StatusOf status={status} /> },
    { head: vmsWords.columns.address, cell: ({ ipAddress }) => <code>{ipAddress ?? commonWords.unknown}</code> },
    { head: w.plan, cell: ({ plan }) => plan },
    { head: w.host, cell: ({ host }) => host ?? commonWords.unknown },
    {
      head: commonWords.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: ({ id, name, status }) => (
        <RowMenu
          name={name}
          items={verbsFor(status).map((verb) => ({ label: w.vmVerbs[verb], onClick: () => act.mutate({ id, verb }) }))}
        />
      ),
    },
  ]
  return (
    <Card flush title={w.vmsTitle}>
      <Loaded of={vms} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted" style={{ padding: '18px 20px' }}>
              {w.noVms}
            </p>
          ) : (
            <Table caption={w.vmsTitle} columns={columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
