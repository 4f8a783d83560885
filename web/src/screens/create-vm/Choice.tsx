import type { ReactNode } from 'react'
import css from './create-vm.module.css'

interface Props<Item> {
  legend: string
  name: string
  items: Item[]
  value: string
  onChange: (id: string) => void
  idOf: (item: Item) => string
  disabled?: (item: Item) => boolean
  children: (item: Item) => ReactNode
  columns?: 'wide' | 'narrow'
}

/** Cards built on radio buttons, so that arrow keys and screen readers work. */
export function Choice<Item>({ legend, name, items, value, onChange, idOf, disabled, children, columns = 'wide' }: Props<Item>) {
  return (
    <fieldset className={css['choice']} data-columns={columns}>
      <legend className="hidden">{legend}</legend>
      {items.map((item) => {
        const id = idOf(item)
        const off = disabled?.(item) ?? false
        return (
          <label key={id} className={css['option']} data-checked={id === value} data-off={off}>
            <input type="radio" name={name} value={id} checked={id === value} disabled={off} onChange={() => onChange(id)} />
            {children(item)}
          </label>
        )
      })}
    </fieldset>
  )
}
