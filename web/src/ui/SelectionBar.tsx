import { Button } from '@mantine/core'
import { listMessages as w } from '../words/words.ts'
import { Icon, type IconName } from './Icon.tsx'
import css from './list-tools.module.css'
import type { Selection } from './selection.ts'

export interface SelectionAction {
  label: string
  icon: IconName
  onClick: () => void
  danger?: boolean
}

interface Props {
  selection: Selection
  actions: SelectionAction[]
  /** What can be acted on at once. */
  most?: number
}

/** Above the list while something is selected. */
export function SelectionBar({ selection, actions, most = 100 }: Props) {
  const count = selection.ids.size
  if (count === 0) return null
  const isTooMany = count > most
  return (
    <div className={css['selection']} role="toolbar" aria-label={w.actionsOfSelection}>
      <output className="numbers">
        {w.selected(count)}
        {isTooMany && `. ${w.tooMany(most)}`}
      </output>
      {actions.map(({ label, icon, onClick, danger }) => (
        <Button
          key={label}
          size="xs"
          variant="default"
          color={danger ? 'red' : undefined}
          leftSection={<Icon name={icon} size={14} />}
          disabled={isTooMany}
          onClick={onClick}
        >
          {label}
        </Button>
      ))}
      <Button size="xs" variant="subtle" onClick={selection.clear}>
        {w.clearSelection}
      </Button>
    </div>
  )
}
