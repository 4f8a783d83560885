// A form without client-side validation: the server validates, and its message appears above the submit button.
import { Alert, Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { ApiError } from '@berth/sdk'
import { errorMessage } from '../api/errors.ts'
import { commonMessages as w } from '../messages/common.ts'
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
  children: ReactNode
}

export function Form({ onSubmit, busy, error, submit, onCancel, danger = false, disabled = false, wide = false, children }: Props) {
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (!busy && !disabled) onSubmit()
  }
  return (
    <form onSubmit={send} noValidate>
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
      {error instanceof ApiError && error.status >= 500 && error.requestId && ` ${w.requestReference(error.requestId)}`}
    </Alert>
  ) : null
