import { NativeSelect } from '@mantine/core'
import type { VmListItem } from '@berth/sdk'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { commonMessages as w } from '../words/words.ts'
import { Dialog } from './Dialogs.tsx'
import { Form } from './Form.tsx'

interface Props {
  title: string
  submit: string
  /** What the choice has for a consequence. */
  about: string | undefined
  choices: VmListItem[]
  write: (vmId: string) => Promise<unknown>
  invalidates: string[]
  successMessage: string
  onClose: () => void
}

export function ChooseVmDialog({ title, submit, about, choices, write, invalidates, successMessage, onClose }: Props) {
  const [chosen, setChosen] = useState('')
  const vmId = chosen || (choices[0]?.id ?? '')
  const choose = useWrite(() => write(vmId), { inForm: true, invalidates, successMessage, onDone: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={() => choose.mutate()}
        busy={choose.isPending}
        error={choose.error}
        submit={submit}
        onCancel={onClose}
        disabled={vmId === ''}
      >
        <NativeSelect
          label={w.vm}
          description={choices.length === 0 ? w.noVms : about}
          value={vmId}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={choices.map(({ id, name }) => ({ value: id, label: name }))}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
