import { Button } from '@mantine/core'
import { Icon } from '../../ui/Icon.tsx'
import type { Selection } from '../../ui/selection.ts'
import { listMessages, vmsMessages } from '../../words/words.ts'
import { BULK_ACTIONS, type BulkAction } from './bulk.ts'
import css from './vms.module.css'

const w = vmsMessages.bulk

/** What the API takes at once. */
const MOST = 100

const ICONS = { START: 'play', STOP: 'stop', RESTART: 'restart', SNAPSHOT: 'camera', DELETE: 'trash' } as const

/** Above the list while something is selected. */
export function SelectionBar({ selection, onAction }: { selection: Selection; onAction: (action: BulkAction) => void }) {
  const count = selection.ids.size
  if (count === 0) return null
  const isTooMany = count > MOST
  return (
    <div className={css['selection']} role="toolbar" aria-label={listMessages.actionsOfSelection}>
      <output className="numbers">
        {listMessages.selected(count)}
        {isTooMany && `. ${listMessages.tooMany(MOST)}`}
      </output>
      {BULK_ACTIONS.map((action) => (
        <Button
          key={action}
          size="xs"
          variant="default"
          color={action === 'DELETE' ? 'red' : undefined}
          leftSection={<Icon name={ICONS[action]} size={14} />}
          disabled={isTooMany}
          onClick={() => onAction(action)}
        >
          {w.submit[action]}
        </Button>
      ))}
      <Button size="xs" variant="subtle" onClick={selection.clear}>
        {listMessages.clearSelection}
      </Button>
    </div>
  )
}
