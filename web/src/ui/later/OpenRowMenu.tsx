import { ActionIcon, Menu } from '@mantine/core'
import { useRef } from 'react'
import { commonMessages as w } from '../../words/words.ts'
import { Icon } from '../Icon.tsx'
import type { RowMenuProps } from '../menu-item.ts'

/** Its button gets the focus before an item opens a dialog, which returns the focus there: the item itself is gone by then. */
export default function OpenRowMenu({ name, items }: RowMenuProps) {
  const target = useRef<HTMLButtonElement>(null)
  return (
    <Menu defaultOpened position="bottom-end" width={210} returnFocus transitionProps={{ duration: 80 }}>
      <Menu.Target>
        <ActionIcon ref={target} variant="subtle" color="gray" aria-label={w.moreActions(name)}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, onClick, danger, disabled }) => (
          <Menu.Item
            key={label}
            onClick={() => {
              target.current?.focus()
              onClick()
            }}
            color={danger ? 'red' : undefined}
            disabled={disabled}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
