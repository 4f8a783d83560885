// Asks for the password where the API wants it again, and lets the write go on.
import { useEffect, useRef, useState } from 'react'
import { setPasswordPrompt } from '../api/reauthenticate.ts'
import { later } from '../ui/later/later.tsx'

const ReauthenticateDialog = later(() => import('./ReauthenticateDialog.tsx'))

export function Reauthenticate({ totpEnabled }: { totpEnabled: boolean }) {
  const answer = useRef<((given: boolean) => void) | null>(null)
  const [opened, setOpened] = useState(false)
  const close = (given: boolean): void => {
    setOpened(false)
    answer.current?.(given)
    answer.current = null
  }
  useEffect(
    () =>
      setPasswordPrompt(
        () =>
          new Promise((resolve) => {
            answer.current = resolve
            setOpened(true)
          }),
      ),
    [],
  )
  return opened && <ReauthenticateDialog totpEnabled={totpEnabled} onClose={close} />
}
