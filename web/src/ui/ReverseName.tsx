import { TextInput } from '@mantine/core'
import type { Address } from '@berth/sdk'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { fieldError } from '../api/errors.ts'
import { commonMessages, reverseNameMessages as w } from '../words/words.ts'
import { Dialog } from './Dialogs.tsx'
import { Form } from './Form.tsx'
import { Status, toneOf } from './Status.tsx'

interface Shown {
  name: string | null
  state: Address['reverseNameState']
  reason: string | null
}

/** With the state while the name server does not have it. */
export const ReverseName = ({ name, state, reason }: Shown) =>
  name === null || state === null ? (
    <span className="muted">{w.none}</span>
  ) : (
    <div title={reason ?? undefined}>
      <div>{name}</div>
      {state !== 'SET' && <Status tone={toneOf(state)}>{w.states[state]}</Status>}
    </div>
  )

interface Props {
  address: string
  name: string | null
  /** Of the request, for its error. */
  field: string
  /** Null removes the name. */
  write: (name: string | null) => Promise<unknown>
  invalidates: string
  onClose: () => void
}

export function ReverseNameDialog({ address, name, field, write, invalidates, onClose }: Props) {
  const [next, setNext] = useState(name ?? '')
  const save = useWrite(() => write(next === '' ? null : next), {
    inForm: true,
    invalidates: [invalidates],
    successMessage: commonMessages.saved,
    onDone: onClose,
  })
  return (
    <Dialog title={w.setOf(address)} onClose={onClose}>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={w.set} onCancel={onClose}>
        <TextInput
          label={w.name}
          description={w.nameHint}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value.trim())}
          error={fieldError(save.error, field)}
          maxLength={253}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
