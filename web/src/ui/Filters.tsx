import type { ReactNode } from 'react'
import css from './filters.module.css'

export const Filters = ({ children }: { children: ReactNode }) => <div className={css['filters']}>{children}</div>
