// The field keeps the focus, and the arrow keys choose. Mantine's list is shown, but not its store: that marks options in the page itself, and none
// before the first key.
import { Combobox, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { errorMessage } from '../api/errors.ts'
import type { Session } from '../api/session.ts'
import { shellMessages } from '../words/words.ts'
import { Dialog } from '../ui/Dialogs.tsx'
import { Icon } from '../ui/Icon.tsx'
import { useSearch, type Found } from './search.ts'
import css from './search.module.css'

const w = shellMessages.search

export default function SearchDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const [text, setText] = useState('')
  const [settled] = useDebouncedValue(text.trim(), 200)
  const { found, known, isBusy, error } = useSearch(session, text.trim(), settled)
  /** Null until an arrow key or the pointer has chosen. */
  const [chosen, setChosen] = useState<number | null>(null)
  /** Enter was pressed before the answer. */
  const isWaiting = useRef(false)
  const active = Math.min(chosen ?? 0, found.length - 1)
  const navigate = useNavigate()
  const id = useId()
  const store = useCombobox()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const go = ({ to, tab, isOutside }: Found): void => {
    onClose()
    if (isOutside) location.assign(to)
    else void navigate({ to, search: tab === undefined ? {} : { tab } })
  }
  // Enter may come before the answer: it means what that finds, not what the text before found.
  useEffect(() => {
    if (!isWaiting.current || isBusy) return
    isWaiting.current = false
    if (found[0]) go(found[0])
  })
  const press = (event: KeyboardEvent): void => {
    const count = found.length
    const next = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key]
    if (event.key === 'Enter' && !event.nativeEvent.isComposing && text.trim() !== '') {
      if (isBusy && chosen === null && active >= known) isWaiting.current = true
      else if (found[active]) go(found[active])
    } else if (event.key === 'Enter' && found[active]) go(found[active])
    else if (next !== undefined && count > 0) setChosen((next + count) % count)
    else return
    event.preventDefault()
  }
  const combobox = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': found.length > 0,
    ...(found.length > 0 && { 'aria-controls': id, 'aria-activedescendant': `${id}-${active}` }),
  } as const
  const state = error ? errorMessage(error) : isBusy ? w.busy : found.length === 0 ? w.nothing(text.trim()) : w.found(found.length)
  return (
    <Dialog title={w.title} onClose={onClose} size="lg">
      <TextInput
        {...combobox}
        aria-label={w.field}
        placeholder={session.user.isOperator ? w.hintOfOperator : w.hint}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(null)
          isWaiting.current = false
        }}
        onKeyDown={press}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      {found.length > 0 && (
        <Combobox store={store} onOptionSubmit={(index) => go(found[Number(index)]!)}>
          <Combobox.Options ref={list} id={id} aria-label={w.title} className={css['list']!}>
            {found.map((each, index) => (
              <Combobox.Option
                key={each.key}
                value={String(index)}
                id={`${id}-${index}`}
                aria-selected={index === active}
                className={css['option']!}
                onMouseMove={() => setChosen(index)}
              >
                <Icon name={each.icon} />
                <span className={css['name']}>{each.name}</span>
                {each.detail !== null && each.detail !== each.name && <span className={css['detail']}>{each.detail}</span>}
                <span className={css['kind']}>{each.kind}</span>
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox>
      )}
      <output className={css['state']}>{state}</output>
    </Dialog>
  )
}
