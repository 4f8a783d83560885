import { Textarea, TextInput } from '@mantine/core'
import type { SshKey } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { sshKeyMessages as w } from '../../words/words.ts'

/** The comment of the public key, as the default name. */
const commentOf = (publicKey: string): string => publicKey.trim().split(/\s+/).slice(2).join(' ').slice(0, 100)

export function AddSshKey({ onClose, onAdded }: { onClose: () => void; onAdded?: (key: SshKey) => void }) {
  const [name, setName] = useState('')
  const [publicKey, setPublicKey] = useState('')
  const add = useWrite(() => berth.sshKeys.create({ name: name || commentOf(publicKey), publicKey: publicKey.trim() }), {
    inForm: true,
    invalidates: ['ssh-keys'],
    successMessage: (key) => w.added(key.name),
    onDone: (key) => {
      onAdded?.(key)
      onClose()
    },
  })
  return (
    <Dialog title={w.add} onClose={onClose} size="lg">
      <Form onSubmit={() => add.mutate()} busy={add.isPending} error={add.error} submit={w.add} onCancel={onClose}>
        <TextInput
          label={w.name}
          description={w.nameHint}
          placeholder={commentOf(publicKey)}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(add.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <Textarea
          label={w.publicKey}
          description={w.publicKeyHint}
          value={publicKey}
          onChange={(event) => setPublicKey(event.currentTarget.value)}
          error={fieldError(add.error, 'publicKey')}
          rows={5}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.78125rem' } }}
        />
      </Form>
    </Dialog>
  )
}
