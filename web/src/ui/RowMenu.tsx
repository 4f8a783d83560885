import { ActionIcon } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { commonMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import type { RowMenuProps } from './menu-item.ts'

export type { MenuItem } from './menu-item.ts'

const load = () => import('./later/OpenRowMenu.tsx')
const OpenRowMenu = lazy(load)

/** Only its button, until it is pressed: a list has one in every row. */
export function RowMenu(props: RowMenuProps) {
  const [isWanted, setWanted] = useState(false)
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={w.moreActions(props.name)}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      onPointerEnter={() => void load()}
    >
      <Icon name="more" />
    </ActionIcon>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <OpenRowMenu {...props} />
    </Suspense>
  )
}
