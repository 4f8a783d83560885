// Actions for all VMs that the list is filtered by their labels, or for those that are selected.
import { Button, Menu } from '@mantine/core'
import { useRef, useState } from 'react'
import { Icon } from '../../ui/Icon.tsx'
import type { Selection } from '../../ui/selection.ts'
import { listMessages, vmsMessages } from '../../words/words.ts'
import { BulkDialog, type BulkAction } from './BulkDialog.tsx'
import css from './vms.module.css'

const w = vmsMessages.bulk

const ACTIONS: BulkAction[] = ['START', 'STOP', 'RESTART', 'SNAPSHOT', 'DELETE']

/** What the API takes at once. */
const MOST = 100

export function BulkActions({ labelSelector }: { labelSelector: string }) {
  const target = useRef<HTMLButtonElement>(null)
  const [action, setAction] = useState<BulkAction | null>(null)
  return (
    <>
      <Menu position="bottom-end" width={210} transitionProps={{ duration: 80 }}>
        <Menu.Target>
          <Button ref={target} variant="default">
            {w.menu}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ACTIONS.map((each) => (
            <Menu.Item
              key={each}
              color={each === 'DELETE' ? 'red' : undefined}
              onClick={() => {
                target.current?.focus() // the dialog returns the focus there: the item itself is gone by then
                setAction(each)
              }}
            >
              {w.actions[each]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {action && (
        <BulkDialog
          action={action}
          target={{ labelSelector }}
          title={w.actions[action]}
          confirm={labelSelector}
          onClose={() => setAction(null)}
        />
      )}
    </>
  )
}

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
      {ACTIONS.map((action) => (
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
