import { ActionIcon, Button, TextInput } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useRef, useState, type FormEvent } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { errorMessage, fieldError } from '../../api/errors.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Row } from '../../ui/Page.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'

interface Props {
  vm: Vm
  isEdited: boolean
  onEdit: (isEdited: boolean) => void
}

/** Beside the title, or instead of it while it is edited. Enter saves, Escape leaves the name as it is. */
export function RenameInPlace({ vm, isEdited, onEdit }: Props) {
  const pencil = useRef<HTMLButtonElement>(null)
  const leave = (): void => {
    onEdit(false)
    setTimeout(() => pencil.current?.focus())
  }
  return isEdited ? (
    <NameForm vm={vm} onDone={leave} />
  ) : (
    <ActionIcon
      ref={pencil}
      variant="subtle"
      color="gray"
      aria-label={vmMessages.rename}
      title={vmMessages.rename}
      onClick={() => onEdit(true)}
    >
      <Icon name="edit" size={16} />
    </ActionIcon>
  )
}

function NameForm({ vm, onDone }: { vm: Vm; onDone: () => void }) {
  const [name, setName] = useState(vm.name)
  const rename = useWrite(() => berth.vms.update(vm.id, { name }), {
    inForm: true,
    invalidates: ['vm', 'vms'],
    successMessage: commonMessages.saved,
    onDone,
  })
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (name === vm.name) onDone()
    else rename.mutate()
  }
  return (
    <form onSubmit={send} noValidate>
      <Row>
        <TextInput
          aria-label={vmMessages.settings.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && onDone()}
          error={rename.error && (fieldError(rename.error, 'name') ?? errorMessage(rename.error))}
          maxLength={100}
          autoFocus
          w={320}
          maw="60vw"
        />
        <Button type="submit" size="sm" loading={rename.isPending} disabled={name === ''}>
          {commonMessages.rename}
        </Button>
        <Button size="sm" variant="default" onClick={onDone}>
          {commonMessages.cancel}
        </Button>
      </Row>
    </form>
  )
}
