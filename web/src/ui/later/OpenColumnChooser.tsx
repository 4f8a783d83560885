import { ActionIcon, Checkbox, Popover } from '@mantine/core'
import { listMessages as w } from '../../words/words.ts'
import { Icon } from '../Icon.tsx'
import { Stack } from '../Page.tsx'

interface Choice {
  name: string
  isShown: boolean
  toggle: () => void
}

const OpenColumnChooser = ({ choices }: { choices: Choice[] }) => (
  <Popover position="bottom-end" width={220} trapFocus returnFocus defaultOpened transitionProps={{ duration: 80 }}>
    <Popover.Target>
      <ActionIcon variant="default" size={36} aria-label={w.columns} title={w.columns}>
        <Icon name="layout" size={16} />
      </ActionIcon>
    </Popover.Target>
    <Popover.Dropdown aria-label={w.columns}>
      <Stack gap={10}>
        {choices.map(({ name, isShown, toggle }) => (
          <Checkbox key={name} label={name} checked={isShown} onChange={toggle} />
        ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
)

export default OpenColumnChooser
