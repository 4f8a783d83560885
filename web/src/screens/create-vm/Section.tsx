import { Collapse } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { ApiError } from '@berth/sdk'
import { useId, useState, type ReactNode } from 'react'
import { fieldError } from '../../api/errors.ts'
import { Icon } from '../../ui/Icon.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import css from './section.module.css'

interface Props {
  title: string
  about?: ReactNode
  /** What is chosen, in a few words; shown while it is closed. */
  summary: ReactNode
  /** Of the request: where the API refuses one of them, the section opens. */
  fields: string[]
  /** Those of them without an input that shows its message itself. */
  plainFields?: string[]
  error: unknown
  /** Closed at first on large screens too. */
  isOptional?: boolean
  children: ReactNode
}

/** A part of the form. On a phone each is one line with what is chosen until it is opened. */
export function Section({ title, about, summary, fields, plainFields = [], error, isOptional = false, children }: Props) {
  const isNarrow = useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false })
  const [chosen, setChosen] = useState<boolean | null>(null)
  const body = useId()
  const isWrong = error instanceof ApiError && error.fields.some(({ field }) => fields.includes(field.split('.')[0]!))
  const isOpen = chosen ?? (isWrong || !(isNarrow || isOptional))
  const canClose = isNarrow || isOptional
  const plain = plainFields.flatMap((field) => fieldError(error, field) ?? [])
  return (
    <section className={css['section']} data-wrong={isWrong}>
      <h2 className={css['title']}>
        {canClose ? (
          <button type="button" className={css['head']} aria-expanded={isOpen} aria-controls={body} onClick={() => setChosen(!isOpen)}>
            <span className={css['name']}>{title}</span>
            {isWrong && (
              <span className={css['wrong']}>
                <Icon name="warning" size={15} /> {w.toMend}
              </span>
            )}
            {!isOpen && !isWrong && <span className={css['summary']}>{summary}</span>}
            <span className={css['chevron']} data-open={isOpen}>
              <Icon name="down" size={15} />
            </span>
          </button>
        ) : (
          <span className={css['head']}>
            <span className={css['name']}>{title}</span>
          </span>
        )}
      </h2>
      <Collapse expanded={isOpen} id={body}>
        <div className={css['body']}>
          {about && <div className={css['about']}>{about}</div>}
          {plain.map((message) => (
            <p key={message} className={css['problem']} role="alert">
              {message}
            </p>
          ))}
          {children}
        </div>
      </Collapse>
    </section>
  )
}
