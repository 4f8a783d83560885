// What stands above a list: its filters, the button that clears them, and, where no headings are shown, what it is sorted by.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { regionsQuery } from '../queries/catalog.ts'
import { listMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import { usePaging, type ListSearch } from './paging.ts'
import type { Sorting } from './sorting.ts'
import type { Column } from './Table.tsx'
import css from './list-tools.module.css'

interface Props {
  children: ReactNode
  /** What the filters of this list are called in the URL. */
  filters: readonly (keyof ListSearch)[]
  /** On the right: columns, download. */
  tools?: ReactNode
}

export function ListTools({ children, filters, tools }: Props) {
  const { search, filter } = usePaging()
  const isFiltered = filters.some((name) => search[name] !== undefined)
  return (
    <div className={css['tools']}>
      <div className={css['filters']}>
        {children}
        {isFiltered && (
          <Button
            variant="subtle"
            leftSection={<Icon name="cross" size={14} />}
            onClick={() => filter(Object.fromEntries(filters.map((name) => [name, undefined])))}
          >
            {w.clearFilters}
          </Button>
        )}
      </div>
      {tools && <div className={css['right']}>{tools}</div>}
    </div>
  )
}

/** Text in the URL. It holds from Enter on, or when the field is left. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const { search, filter } = usePaging()
  return (
    <SearchInput key={search.q ?? ''} initial={search.q ?? ''} label={label} placeholder={placeholder} onSearch={(q) => filter({ q })} />
  )
}

interface SearchProps {
  initial: string
  label: string
  placeholder: string
  onSearch: (text: string | undefined) => void
}

function SearchInput({ initial, label, placeholder, onSearch }: SearchProps) {
  const [text, setText] = useState(initial)
  const apply = (): void => {
    if (text.trim() !== initial) onSearch(text.trim() || undefined)
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name="search" size={16} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
      maxLength={100}
      spellCheck={false}
    />
  )
}

interface SelectProps {
  name: 'status' | 'region' | 'plan' | 'type' | 'kind'
  label: string
  /** Of no choice. */
  all: string
  choices: [string, string][]
}

/** A filter of which one value is chosen. One in the URL that is no choice stays visible, so that it can be cleared. */
export function FilterSelect({ name, label, all, choices }: SelectProps) {
  const { search, filter } = usePaging()
  const value = search[name] ?? ''
  const known = value === '' || choices.some(([each]) => each === value)
  const data = [['', all], ...choices, ...(known ? [] : [[value, value]])].map(([each, text]) => ({ value: each!, label: text! }))
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={data}
      onChange={(event) => filter({ [name]: event.currentTarget.value || undefined })}
    />
  )
}

/** By the id of a region. */
export function RegionFilter() {
  const regions = useQuery(regionsQuery).data ?? []
  return <FilterSelect name="region" label={w.region} all={w.allRegions} choices={regions.map(({ id, name }) => [id, name])} />
}

/** On narrow screens, where a list is of cards. */
export function SortSelect<Row>({ columns, sorting }: { columns: Column<Row>[]; sorting: Sorting }) {
  const choices = columns.flatMap(({ head, sort }) =>
    sort === undefined
      ? []
      : [
          { value: sort, label: w.ascending(head) },
          { value: `-${sort}`, label: w.descending(head) },
        ],
  )
  return (
    <div className={css['narrowOnly']}>
      <NativeSelect
        aria-label={w.sortBy}
        value={sorting.sort ?? ''}
        data={[{ value: '', label: w.unsorted }, ...choices]}
        onChange={(event) => sorting.onSort(event.currentTarget.value || undefined)}
      />
    </div>
  )
}
