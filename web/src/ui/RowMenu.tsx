import { ActionIcon, Menu } from '@mantine/core'
import { commonMessages as w } from '../messages/common.ts'
import { Icon } from './Icon.tsx'

interface Item {
  label: string
  onClick: () => void
  danger?: boolean
  disabled?: boolean
}

export const RowMenu = ({ name, items }: { name: string; items: Item[] }) => (
  <Menu position="bottom-end" width={210} transitionProps={{ duration: 80 }}>
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" aria-label={w.moreActions(name)}>
        <Icon name="more" />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {items.map(({ label, onClick, danger, disabled }) => (
        <Menu.Item key={label} onClick={onClick} color={danger ? 'red' : undefined} disabled={disabled}>
          {label}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
)
