// Fields and hooks shared by the sign-in screens.
import { PasswordInput, TextInput, type PasswordInputProps, type TextInputProps } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { fieldError } from '../../api/errors.ts'
import { signInMessages as w } from '../../words/words.ts'

interface Field {
  value: string
  onChange: (value: string) => void
  /** The error of the form; the part about this field is shown here. */
  failure?: unknown
}

export const EmailField = ({ value, onChange, failure, ...more }: Field & Omit<TextInputProps, keyof Field>) => (
  <TextInput
    label={w.email}
    type="email"
    autoComplete="username"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={fieldError(failure, 'email')}
    {...more}
  />
)

export const NewPasswordField = ({ value, onChange, failure, ...more }: Field & Omit<PasswordInputProps, keyof Field>) => (
  <PasswordInput
    label={w.password}
    description={w.passwordHint}
    autoComplete="new-password"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={fieldError(failure, 'password')}
    {...more}
  />
)

/** The second factor. */
export const CodeField = ({ value, onChange }: Field) => (
  <TextInput
    label={w.code}
    description={w.codeHint}
    autoComplete="one-time-code"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value.trim())}
    spellCheck={false}
    autoFocus
  />
)

/** Drops the cached anonymous session and opens the home screen. */
export function useAfterSignIn(): () => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    await client.resetQueries({ queryKey: ['session'] })
    await navigate({ to: '/', replace: true })
  }
}
