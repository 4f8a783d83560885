import { Alert, Checkbox, NumberInput, PasswordInput, Textarea, TextInput } from '@mantine/core'
import type { SshKey } from '@berth/sdk'
import { useState } from 'react'
import { fieldError } from '../../api/errors.ts'
import { Row, Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { AddSshKey } from '../ssh-keys/AddSshKey.tsx'
import { Button } from '@mantine/core'
import css from './create-vm.module.css'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  /** The default user of the image. */
  user: string
  keys: SshKey[]
  error: unknown
}

export function LoginStep({ form, set, user, keys, error }: Props) {
  const [adding, setAdding] = useState(false)
  return (
    <Stack gap={18}>
      <div className={css['fields']}>
        <TextInput
          label={w.hostname}
          description={form.count > 1 ? w.hostnamesHint : w.hostnameHint}
          value={form.hostname}
          onChange={(event) => set({ hostname: event.currentTarget.value.trim() })}
          error={fieldError(error, 'hostname')}
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          required
        />
        <TextInput
          label={w.name}
          description={w.nameHint}
          value={form.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={fieldError(error, 'name')}
          maxLength={100}
          autoComplete="off"
        />
        <NumberInput
          label={w.count}
          description={w.countHint}
          min={1}
          max={20}
          clampBehavior="strict"
          allowDecimal={false}
          value={form.count}
          onChange={(value) => set({ count: Number(value) || 1 })}
        />
      </div>
      <Checkbox.Group label={w.sshKeys} value={form.sshKeyIds} onChange={(sshKeyIds) => set({ sshKeyIds })}>
        <Stack gap={8}>
          <div />
          {keys.length === 0 && <span className="muted">{w.noKeys}</span>}
          {keys.map((key) => (
            <Checkbox key={key.id} value={key.id} label={key.name} description={key.fingerprint} />
          ))}
          <Row>
            <Button variant="default" size="xs" onClick={() => setAdding(true)}>
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
      <Textarea
        label={w.userData}
        description={w.userDataHint}
        value={form.userData}
        onChange={(event) => set({ userData: event.currentTarget.value })}
        error={fieldError(error, 'userData')}
        autosize
        minRows={3}
        maxRows={16}
        maxLength={65_536}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      {form.sshKeyIds.length === 0 && form.password === '' && <Alert color="yellow">{w.noLogin}</Alert>}
      {adding && <AddSshKey onClose={() => setAdding(false)} onAdded={(key) => set({ sshKeyIds: [...form.sshKeyIds, key.id] })} />}
    </Stack>
  )
}
