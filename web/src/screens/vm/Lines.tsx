import type { ReactNode } from 'react'
import css from './overview.module.css'

/** Names on the left, values on the right. */
export const Lines = ({ lines }: { lines: (readonly [string, ReactNode])[] }) => (
  <dl className={css['lines']}>
    {lines.map(([name, value]) => (
      <div key={name} className={css['line']}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
