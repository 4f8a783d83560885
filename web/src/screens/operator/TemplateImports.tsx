// Imports of images that operators began: what is done, and why one failed.
import { useQuery } from '@tanstack/react-query'
import { templateImportsQuery, type TemplateImport } from '../../api/operator.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { templateMessages as w } from '../../words/words.ts'

const COLUMNS: Column<TemplateImport>[] = [
  {
    head: w.template,
    cell: ({ id, slug }) => (
      <TextLink to="/operator/actions/$actionId" params={{ actionId: id }}>
        {slug}
      </TextLink>
    ),
  },
  {
    head: w.state,
    grow: true,
    cell: ({ status, doing, error }) => (
      <div>
        <StatusBadge status={status} working />
        {status === 'FAILED' && error !== null && <div className="muted">{error}</div>}
        {(status === 'RUNNING' || status === 'PENDING') && doing !== '' && <div className="muted">{doing}</div>}
      </div>
    ),
  },
  { head: w.from, truncate: ({ url }) => url, cell: ({ url }) => <code>{url}</code> },
  { head: w.begun, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

export function TemplateImports() {
  const imports = useQuery(templateImportsQuery).data ?? []
  if (imports.length === 0) return null
  return (
    <Card title={w.imports} flush>
      <Table caption={w.imports} columns={COLUMNS} rows={imports} rowKey={({ id }) => id} />
    </Card>
  )
}
