import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { fieldError } from '../api/errors.ts'
import { commonMessages as w } from '../words/words.ts'
import { Dialog } from './Dialogs.tsx'
import { Form } from './Form.tsx'

interface Props {
  title: string
  name: string
  write: (name: string) => Promise<unknown>
  invalidates: string | string[]
  onClose: () => void
}

export function RenameDialog({ title, name, write, invalidates, onClose }: Props) {
  const [next, setNext] = useState(name)
  const rename = useWrite(() => write(next), { inForm: true, invalidates: [invalidates].flat(), successMessage: w.saved, onDone: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => rename.mutate()} busy={rename.isPending} error={rename.error} submit={w.rename} onCancel={onClose}>
        <TextInput
          label={w.name}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          error={fieldError(rename.error, 'name')}
          maxLength={100}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
