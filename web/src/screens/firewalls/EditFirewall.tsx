import { TextInput } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { commonWords } from '../../messages/common.ts'
import { firewallWords as w } from '../../messages/firewalls.ts'

/** A new one when none is given. */
export function EditFirewall({ firewall, onClose }: { firewall?: Firewall; onClose: () => void }) {
  const [name, setName] = useState(firewall?.name ?? '')
  const [description, setDescription] = useState(firewall?.description ?? '')
  const navigate = useNavigate()
  const body = { name, description }
  const save = useWrite(() => (firewall ? berth.firewalls.update(firewall.id, body) : berth.firewalls.create(body)), {
    inForm: true,
    changes: ['firewalls', 'limits'],
    says: (saved) => (firewall ? w.saved : w.created(saved.name)),
    after: async (saved) => {
      onClose()
      if (!firewall) await navigate({ to: '/firewalls/$firewallId', params: { firewallId: saved.id } })
    },
  })
  const submit = firewall ? commonWords.save : w.create
  return (
    <Dialog title={firewall ? w.editTitle : w.create} onClose={onClose}>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={submit} onCancel={onClose}>
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(save.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <TextInput
          label={w.description}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={fieldError(save.error, 'description')}
        />
      </Form>
    </Dialog>
  )
}
