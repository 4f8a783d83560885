import { Alert, Button, Checkbox, PasswordInput } from '@mantine/core'
import type { SshKey } from '@berth/sdk'
import { useState } from 'react'
import { fieldError } from '../../api/errors.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Row, Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { AddSshKey } from '../ssh-keys/AddSshKey.tsx'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  /** The default user of the image. */
  user: string
  keys: SshKey[]
  /** A VM of a backup has the users that it had. */
  hasUsers: boolean
  error: unknown
}

export function LoginStep({ form, set, user, keys, hasUsers, error }: Props) {
  const [adding, setAdding] = useState(false)
  const cannotLogIn = form.sshKeyIds.length === 0 && form.password === '' && !hasUsers
  return (
    <Stack gap={18}>
      <Checkbox.Group
        label={w.sshKeys}
        value={form.sshKeyIds}
        onChange={(sshKeyIds) => set({ sshKeyIds })}
        error={fieldError(error, 'sshKeyIds')}
      >
        <Stack gap={8}>
          <div />
          {keys.length === 0 && <span className="muted">{w.noKeys}</span>}
          {keys.map((key) => (
            <Checkbox key={key.id} value={key.id} label={key.name} description={key.fingerprint} />
          ))}
          <Row>
            <Button variant="default" size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setAdding(true)}>
              {w.addKey}
            </Button>
          </Row>
        </Stack>
      </Checkbox.Group>
      <PasswordInput
        label={w.password(user)}
        description={w.passwordHint}
        value={form.password}
        onChange={(event) => set({ password: event.currentTarget.value })}
        error={fieldError(error, 'password')}
        autoComplete="new-password"
        maw={380}
      />
      {cannotLogIn && <Alert color="yellow">{w.noLogin}</Alert>}
      {adding && <AddSshKey onClose={() => setAdding(false)} onAdded={(key) => set({ sshKeyIds: [...form.sshKeyIds, key.id] })} />}
    </Stack>
  )
}
