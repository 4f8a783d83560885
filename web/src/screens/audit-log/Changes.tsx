import type { AuditEntry } from '@berth/sdk'
import { formatConstant } from '../../ui/format.ts'
import { limitName } from '../../words/words.ts'
import { auditMessages as w, commonMessages } from '../../words/words.ts'
import css from './audit-log.module.css'

type Change = NonNullable<AuditEntry['changes']>[number]

/** The fields of an update, before and after. */
export const Changes = ({ changes }: { changes: readonly Change[] }) => (
  <ul className={css['changes']} aria-label={w.changes}>
    {changes.map(({ field, from, to }) => (
      <li key={field}>
        <span className={css['field']}>{fieldName(field)}</span>
        <del>
          <span className="hidden">{w.before} </span>
          {valueOf(from)}
        </del>
        <span aria-hidden="true">→</span>
        <ins>
          <span className="hidden">{w.after} </span>
          {valueOf(to)}
        </ins>
      </li>
    ))}
  </ul>
)

function fieldName(field: string): string {
  const known = w.fields[field] ?? limitName(field)
  return known === field ? formatConstant(field.replace(/[A-Z]/g, ' $&')) : known
}

const valueOf = (value: string | null): string =>
  value === null ? commonMessages.none : value === 'true' ? commonMessages.on : value === 'false' ? commonMessages.off : value
