// A form without client-side validation: the server validates. Messages about a field appear at its input, the others above the submit
// button.
import { Alert, Button } from '@mantine/core'
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react'
import { ApiError } from '@berth/sdk'
import { errorMessage } from '../api/errors.ts'
import { commonMessages as w } from '../words/words.ts'
import { Stack } from './Page.tsx'
import css from './form.module.css'

interface Props {
  onSubmit: () => void
  busy: boolean
  error: unknown
  submit: string
  onCancel?: () => void
  danger?: boolean
  disabled?: boolean
  wide?: boolean
  /** Another value after each attempt that failed by what the inputs say themselves. */
  attempt?: number
  children: ReactNode
}

export function Form({
  onSubmit,
  busy,
  error,
  submit,
  onCancel,
  danger = false,
  disabled = false,
  wide = false,
  attempt = 0,
  children,
}: Props) {
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (!busy && !disabled) onSubmit()
  }
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error || attempt > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error, attempt])
  return (
    <form ref={form} onSubmit={send} noValidate>
      <Stack gap={14}>
        {children}
        <ErrorAlert error={error} />
        <div className={wide ? css['wide'] : css['buttons']}>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {w.cancel}
            </Button>
          )}
          <Button type="submit" loading={busy} disabled={disabled} color={danger ? 'red' : undefined} fullWidth={wide}>
            {submit}
          </Button>
        </div>
      </Stack>
    </form>
  )
}

export const ErrorAlert = ({ error }: { error: unknown }) =>
  error ? (
    <Alert color="red" role="alert">
      {errorMessage(error)}
      <RequestReference error={error} />
    </Alert>
  ) : null

/** What support needs to find the request in the log; only where the server is at fault. */
export const RequestReference = ({ error }: { error: unknown }) =>
  error instanceof ApiError && error.status >= 500 && error.requestId ? (
    <div className="muted">{w.requestReference(error.requestId)}</div>
  ) : null
