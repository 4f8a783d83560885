import { Button } from '@mantine/core'
import { useId, useRef } from 'react'
import { fieldError } from '../../api/errors.ts'
import { formatNumber } from '../../ui/format.ts'
import { Row } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { checkUserData, MAX_USER_DATA_BYTES, STARTERS, type UserDataProblem } from './user-data.ts'
import css from './user-data.module.css'

interface Props {
  value: string
  onChange: (userData: string) => void
  error: unknown
}

const u = w.userDataEditor

/** A text with line numbers. Mistakes are said while it is typed; the API's own check is shown below it. */
export function UserDataStep({ value, onChange, error }: Props) {
  const [id, aboutId] = [useId(), useId()]
  const text = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const { kind, bytes, problems } = checkUserData(value)
  const refusal = fieldError(error, 'userData')
  const isTooLong = bytes > MAX_USER_DATA_BYTES
  const wrongLines = new Set(problems.map(({ line }) => line))
  const goTo = (line: number): void => {
    const start = value.split('\n', line - 1).join('\n').length + (line > 1 ? 1 : 0)
    text.current?.focus()
    text.current?.setSelectionRange(start, start)
  }
  return (
    <div className={css['step']}>
      <label htmlFor={id} className={css['label']}>
        {w.userData}
      </label>
      <p id={aboutId} className={css['about']}>
        {w.userDataHint}
      </p>
      {value === '' && (
        <Row>
          <Button variant="default" size="xs" onClick={() => onChange(STARTERS.config)}>
            {u.insertConfig}
          </Button>
          <Button variant="default" size="xs" onClick={() => onChange(STARTERS.script)}>
            {u.insertScript}
          </Button>
        </Row>
      )}
      <div className={css['editor']} data-wrong={refusal !== undefined || isTooLong}>
        <div ref={gutter} className={css['gutter']} aria-hidden="true">
          {Array.from(value.split('\n'), (_, index) => index + 1).map((line) => (
            <div key={line} data-wrong={wrongLines.has(line)}>
              {line}
            </div>
          ))}
        </div>
        <textarea
          ref={text}
          id={id}
          className={css['text']}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => (gutter.current!.scrollTop = event.currentTarget.scrollTop)}
          rows={value === '' ? 4 : 12}
          wrap="off"
          spellCheck={false}
          autoComplete="off"
          aria-describedby={aboutId}
          aria-invalid={refusal !== undefined || isTooLong}
        />
      </div>
      <div className={css['foot']}>
        <span>{kind === null ? '' : u.kinds[kind]}</span>
        <span data-wrong={isTooLong} className={css['size']}>
          {u.size(formatNumber(bytes), formatNumber(MAX_USER_DATA_BYTES))}
        </span>
      </div>
      {refusal !== undefined && <p className={css['refusal']}>{refusal}</p>}
      {problems.length > 0 && (
        <ul className={css['problems']} aria-label={u.problems}>
          {problems.slice(0, 5).map((problem) => (
            <li key={`${problem.line} ${problem.code}`}>
              <button type="button" onClick={() => goTo(problem.line)}>
                {u.line(problem.line)}
              </button>{' '}
              {textOf(problem)}
              {problem.code === 'header' && (
                <Button variant="default" size="compact-xs" ml={8} onClick={() => onChange(`#cloud-config\n${value}`)}>
                  {u.addHeader}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const textOf = (problem: UserDataProblem): string => (problem.code === 'twice' ? u.twice(problem.key) : u[problem.code])
