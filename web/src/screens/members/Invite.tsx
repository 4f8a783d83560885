import { TextInput } from '@mantine/core'
import type { NewInvitation } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { memberMessages as w } from '../../words/words.ts'
import { Dialog, SecretDialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { BudgetFields, NO_BUDGET, toBudget } from '../../ui/Budget.tsx'
import { grantOf, RoleFields, type Grant } from './RoleFields.tsx'

export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [grant, setGrant] = useState<Grant>({ role: 'read-only' })
  const [budget, setBudget] = useState(NO_BUDGET)
  const [made, setMade] = useState<NewInvitation | null>(null)
  const invite = useWrite(
    () => berth.invitations.create({ email, ...grantOf(grant), ...(grant.role !== 'owner' && { budget: toBudget(budget) }) }),
    {
      inForm: true,
      invalidates: ['members'],
      successMessage: w.invited(email),
      onDone: (invitation) => (invitation.url === null ? onClose() : setMade(invitation)),
    },
  )
  if (made?.url) return <SecretDialog label={w.link} secret={made.url} about={w.linkAbout} onClose={onClose} />
  return (
    <Dialog title={w.invite} onClose={onClose} size="lg">
      <Form onSubmit={() => invite.mutate()} busy={invite.isPending} error={invite.error} submit={w.invite} onCancel={onClose}>
        <TextInput
          label={w.email}
          description={w.inviteAbout}
          type="email"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(invite.error, 'email')}
          maxLength={254}
          data-autofocus
        />
        <RoleFields grant={grant} onChange={setGrant} />
        {grant.role !== 'owner' && <BudgetFields value={budget} onChange={setBudget} error={invite.error} />}
      </Form>
    </Dialog>
  )
}
