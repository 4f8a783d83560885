// The search of the top bar: a button, Ctrl K, and a dialog in which the field keeps the focus and the arrow keys choose. Mantine's list is shown, but
// not its store: that marks options in the page itself, and none before the first key.
import { Combobox, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue, useDisclosure, useHotkeys } from '@mantine/hooks'
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

/** Where these keys are typed into a guest, or lines of text, they stay there. */
const KEEP_THEIR_KEYS = ['TEXTAREA', 'CANVAS']

export function Search({ session }: { session: Session }) {
  const [opened, { open, close }] = useDisclosure(false)
  useHotkeys([['mod+K', open]], KEEP_THEIR_KEYS)
  return (
    <>
      <button type="button" className={css['open']} aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" onClick={open}>
        <Icon name="search" />
        <span className={css['word']}>{w.open}</span>
        <kbd aria-hidden="true">{/Mac|iPhone|iPad/.test(navigator.platform) ? w.keyOfMac : w.key}</kbd>
      </button>
      {opened && <SearchDialog session={session} onClose={close} />}
    </>
  )
}

function SearchDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const [text, setText] = useState('')
  const [settled] = useDebouncedValue(text.trim(), 200)
  const { found, isBusy, error } = useSearch(session, text.trim(), settled)
  const [chosen, setChosen] = useState(0)
  const active = Math.min(chosen, found.length - 1)
  const navigate = useNavigate()
  const id = useId()
  const store = useCombobox()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const go = ({ to, tab }: Found): void => {
    onClose()
    void navigate({ to, search: tab === undefined ? {} : { tab } })
  }
  const press = (event: KeyboardEvent): void => {
    const count = found.length
    const next = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key]
    if (event.key === 'Enter' && !event.nativeEvent.isComposing && count > 0) go(found[active]!)
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
          setChosen(0)
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
