import { Button, Checkbox, TextInput } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import type { Write } from '../api/client.ts'
import { commonMessages as w } from '../words/words.ts'
import { Code } from './CopyButton.tsx'
import { Form } from './Form.tsx'
import { Modal } from './Modal.tsx'
import { Stack } from './Page.tsx'

/** Dialogs are mounted only while open; on unmount the focus returns to the element that opened the dialog. */
function useRestoreFocus(): void {
  useEffect(() => {
    const opener = document.activeElement
    return () => {
      setTimeout(() => opener instanceof HTMLElement && opener.isConnected && opener.focus())
    }
  }, [])
}

interface ConfirmProps<Output> {
  title: string
  children: ReactNode
  submit: string
  write: Write<void, Output>
  onClose: () => void
  /** Instead of closing it. */
  onDone?: (output: Output) => void
  /** Must be typed before submitting, for irreversible actions. */
  name?: string
  /** For example while the quote is loading. */
  disabled?: boolean
  /** False if nothing is lost. */
  danger?: boolean
}

export function ConfirmDialog<Output>(props: ConfirmProps<Output>) {
  const { title, children, submit, write, onClose, onDone = onClose, name, disabled = false, danger = true } = props
  const [typed, setTyped] = useState('')
  useRestoreFocus()
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': w.close }}>
      <Form
        onSubmit={() => write.mutate(undefined, { onSuccess: onDone })}
        busy={write.isPending}
        error={write.error}
        submit={submit}
        onCancel={onClose}
        danger={danger}
        disabled={disabled || (name !== undefined && typed !== name)}
      >
        <div>{children}</div>
        {name !== undefined && (
          <TextInput
            label={w.typeToConfirm(name)}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
      </Form>
    </Modal>
  )
}

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  size?: string
}

export function Dialog({ title, onClose, children, size = 'md' }: DialogProps) {
  useRestoreFocus()
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeButtonProps={{ 'aria-label': w.close }}>
      {children}
    </Modal>
  )
}

interface SecretProps {
  label: string
  secret: string
  /** Why the secret cannot be shown again. */
  about?: string
  hint?: ReactNode
  onClose: () => void
}

/** Shows a secret once; closes only after the user confirms that the secret is saved. */
export function SecretDialog({ label, secret, about = w.secretAbout, hint, onClose }: SecretProps) {
  const [saved, setSaved] = useState(false)
  useRestoreFocus()
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={w.secretTitle}
      size="lg"
    >
      <Stack gap={16}>
        <p className="muted">{about}</p>
        <Code text={secret} what={label} />
        {hint}
        <Checkbox label={w.secretSaved} checked={saved} onChange={(event) => setSaved(event.currentTarget.checked)} />
        <Button onClick={onClose} disabled={!saved} style={{ alignSelf: 'flex-end' }}>
          {w.secretDone}
        </Button>
      </Stack>
    </Modal>
  )
}
