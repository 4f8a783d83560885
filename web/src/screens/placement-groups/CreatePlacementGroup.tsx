import { Radio, TextInput } from '@mantine/core'
import type { PlacementGroup } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { commonMessages, placementGroupMessages as w } from '../../words/words.ts'

type Policy = PlacementGroup['policy']
const POLICIES = Object.keys(w.policies) as Policy[]

export function CreatePlacementGroup({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [policy, setPolicy] = useState<Policy>('SPREAD')
  const create = useWrite(() => berth.placementGroups.create({ name, policy }), {
    inForm: true,
    invalidates: ['placement-groups'],
    successMessage: (group) => w.created(group.name),
    onDone: onClose,
  })
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form onSubmit={() => create.mutate()} busy={create.isPending} error={create.error} submit={w.create} onCancel={onClose}>
        <TextInput
          label={commonMessages.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <Radio.Group label={w.policy} value={policy} onChange={(value) => setPolicy(value as Policy)}>
          <Stack gap={8}>
            <div />
            {POLICIES.map((each) => (
              <Radio key={each} value={each} label={w.policies[each]} description={w.policyAbout[each]} />
            ))}
          </Stack>
        </Radio.Group>
      </Form>
    </Dialog>
  )
}
