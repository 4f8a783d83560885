// Actions for all VMs that the list is filtered by their labels.
import { Button, Menu } from '@mantine/core'
import { useRef, useState } from 'react'
import { vmsMessages } from '../../words/words.ts'
import { BULK_ACTIONS, type BulkAction } from './bulk.ts'
import BulkDialog from './BulkDialog.tsx'

const w = vmsMessages.bulk

export default function BulkActions({ labelSelector }: { labelSelector: string }) {
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
          {BULK_ACTIONS.map((each) => (
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
