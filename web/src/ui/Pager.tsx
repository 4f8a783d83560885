import { Button, NativeSelect } from '@mantine/core'
import type { Page } from '@berth/sdk'
import { commonMessages as w } from '../words/words.ts'
import { usePaging } from './paging.ts'
import css from './pager.module.css'

/** Server-side pagination; the current page is in the URL. */
export function Pager({ pagination: { page, limit, total, totalPages } }: { pagination: Page<unknown>['pagination'] }) {
  const { setSearch } = usePaging()
  if (total <= 10) return null
  return (
    <nav className={css['pager']} aria-label={w.pages}>
      <NativeSelect
        aria-label={w.perPage}
        size="xs"
        value={String(limit)}
        data={['10', '20', '50', '100']}
        onChange={(event) => setSearch({ page: undefined, limit: Number(event.currentTarget.value) })}
      />
      <span className={css['range']}>{w.range((page - 1) * limit + 1, Math.min(page * limit, total), total)}</span>
      <Button variant="default" size="xs" disabled={page <= 1} onClick={() => setSearch({ page: page - 1 })}>
        {w.previous}
      </Button>
      <Button variant="default" size="xs" disabled={page >= totalPages} onClick={() => setSearch({ page: page + 1 })}>
        {w.next}
      </Button>
    </nav>
  )
}
