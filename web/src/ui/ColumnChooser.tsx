// Which columns of a list are shown; each list remembers its own in this browser.
import { ActionIcon } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { listMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import type { Column } from './Table.tsx'

type Choice = Record<string, boolean>

/** What is stored may be of another version, or nobody's. */
function readChoice(key: string): Choice {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'))
  } catch {
    return {}
  }
}

function storeChoice(key: string, choice: Choice): void {
  try {
    localStorage.setItem(key, JSON.stringify(choice))
  } catch {} // a browser that stores nothing shows them until it is closed
}

/** `id` of a column: what it sorts by, else its heading. */
const idOf = <Row,>({ sort, head }: Column<Row>): string => sort ?? head

export interface Chooser<Row> {
  all: Column<Row>[]
  shown: Column<Row>[]
  isShown: (column: Column<Row>) => boolean
  toggle: (column: Column<Row>) => void
}

export function useColumns<Row>(list: string, all: Column<Row>[]): Chooser<Row> {
  const key = `berth:columns:${list}`
  const [choice, setChoice] = useState(() => readChoice(key))
  const isShown = (column: Column<Row>): boolean => column.optional === undefined || (choice[idOf(column)] ?? column.optional === 'shown')
  const toggle = (column: Column<Row>): void => {
    const next = { ...choice, [idOf(column)]: !isShown(column) }
    setChoice(next)
    storeChoice(key, next)
  }
  return { all, shown: all.filter(isShown), isShown, toggle }
}

const load = () => import('./later/OpenColumnChooser.tsx')
const OpenColumnChooser = lazy(load)

/** Only its button, until it is pressed. */
export function ColumnChooser<Row>({ columns: { all, isShown, toggle } }: { columns: Chooser<Row> }) {
  const [isWanted, setWanted] = useState(false)
  const button = (
    <ActionIcon
      variant="default"
      size={36}
      aria-label={w.columns}
      aria-haspopup="dialog"
      aria-expanded={false}
      title={w.columns}
      onClick={() => setWanted(true)}
      onPointerEnter={() => void load()}
    >
      <Icon name="layout" size={16} />
    </ActionIcon>
  )
  if (!isWanted) return button
  const choices = all
    .filter(({ optional }) => optional !== undefined)
    .map((column) => ({ name: column.head, isShown: isShown(column), toggle: () => toggle(column) }))
  return (
    <Suspense fallback={button}>
      <OpenColumnChooser choices={choices} />
    </Suspense>
  )
}
