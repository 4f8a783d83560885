import { Switch, TextInput } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { LabelsInput, readLabels, toTexts } from '../../ui/Labels.tsx'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, firewallMessages as w } from '../../words/words.ts'

/** Creates a firewall, or edits the given one. */
export function EditFirewall({ firewall, onClose }: { firewall?: Firewall; onClose: () => void }) {
  const [name, setName] = useState(firewall?.name ?? '')
  const [description, setDescription] = useState(firewall?.description ?? '')
  const [coversPrivate, setCoversPrivate] = useState(firewall?.coversPrivate ?? false)
  const [labels, setLabels] = useState(toTexts(firewall?.labels ?? {}))
  const navigate = useNavigate()
  const body = { name, description, coversPrivate, labels: readLabels(labels) }
  const save = useWrite(() => (firewall ? berth.firewalls.update(firewall.id, body) : berth.firewalls.create(body)), {
    inForm: true,
    invalidates: ['firewalls', 'limits'],
    successMessage: (saved) => (firewall ? w.saved : w.created(saved.name)),
    onDone: async (saved) => {
      onClose()
      if (!firewall) await navigate({ to: '/firewalls/$firewallId', params: { firewallId: saved.id } })
    },
  })
  const submit = firewall ? commonMessages.save : w.create
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
        <LabelsInput texts={labels} onChange={setLabels} error={save.error} />
        <Switch
          label={w.coversPrivate}
          description={w.coversPrivateAbout}
          checked={coversPrivate}
          onChange={(event) => setCoversPrivate(event.currentTarget.checked)}
        />
      </Form>
    </Dialog>
  )
}
