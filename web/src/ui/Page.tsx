import { useEffect, type ReactNode } from 'react'
import { titleOf } from '../skin.ts'
import { GuideLink } from './GuideLink.tsx'
import css from './page.module.css'

interface Props {
  title: string
  /** Replaces the title on the page, where the browser tab's title should be shorter. */
  heading?: ReactNode
  /** Behind the title, such as a button that changes it. */
  beside?: ReactNode
  about?: ReactNode
  /** Link to the parent page. */
  above?: ReactNode
  actions?: ReactNode
  children: ReactNode
  narrow?: boolean
}

export function Page({ title, heading, beside, about, above, actions, children, narrow = false }: Props) {
  useEffect(() => {
    document.title = titleOf(title)
  }, [title])
  return (
    <div className={narrow ? css['narrow'] : css['page']}>
      {above && <div className={css['above']}>{above}</div>}
      <header className={css['header']}>
        <div className={css['titles']}>
          <div className={css['titleRow']}>
            <h1 className={css['title']} title={title}>
              {heading ?? title}
            </h1>
            {beside}
          </div>
          {about && <div className={css['about']}>{about}</div>}
          <GuideLink />
        </div>
        {actions && <div className={css['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface CardProps {
  title?: ReactNode
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
  /** No padding, for tables. */
  flush?: boolean
  tone?: 'danger'
}

export const Card = ({ title, about, actions, children, flush = false, tone }: CardProps) => (
  <section className={css['card']} data-tone={tone}>
    {title !== undefined && (
      <div className={css['cardHead']}>
        <div>
          <h2 className={css['cardTitle']}>{title}</h2>
          {about && <div className={css['cardAbout']}>{about}</div>}
        </div>
        {actions && <div className={css['actions']}>{actions}</div>}
      </div>
    )}
    <div className={flush ? css['flush'] : css['cardBody']}>{children}</div>
  </section>
)

export const Columns = ({ children, side = false }: { children: ReactNode; side?: boolean }) => (
  <div className={side ? css['withSide'] : css['columns']}>{children}</div>
)

export const Stack = ({ children, gap = 20 }: { children: ReactNode; gap?: number }) => (
  <div className={css['stack']} style={{ gap }}>
    {children}
  </div>
)

export const Row = ({ children, gap = 8, wrap = true }: { children: ReactNode; gap?: number; wrap?: boolean }) => (
  <div className={css['row']} style={{ gap, flexWrap: wrap ? 'wrap' : 'nowrap' }}>
    {children}
  </div>
)

/** A description list. */
export const Facts = ({ facts }: { facts: [string, ReactNode][] }) => (
  <dl className={css['facts']}>
    {facts.map(([name, value]) => (
      <div key={name} className={css['fact']}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
