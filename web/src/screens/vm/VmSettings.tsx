import { Switch, TextInput } from '@mantine/core'
import type { UpdateVm, Vm } from '@berth/sdk'
import { useState, type ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { commonWords } from '../../messages/common.ts'
import { vmWords } from '../../messages/vm.ts'
import { AddOn } from './AddOn.tsx'
import { DeleteVm, RebuildVm, SetPassword } from './DangerZone.tsx'
import { Upgrade } from './Upgrade.tsx'
import { neverCameUp, Verb } from './ActionButton.tsx'
import css from './vm.module.css'

const w = vmWords.settings
const changes = ['vm', 'vms']

export function VmSettings({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<'password' | 'rebuild' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const protect = useWrite((isProtected: boolean) => berth.vms.update(vm.id, { isProtected }), { changes, says: commonWords.saved })
  return (
    <Stack>
      <Card title={w.general}>
        <div className={css['name']}>
          <Name key={vm.name} vm={vm} />
        </div>
        <div style={{ height: 20 }} />
        <Setting name={w.protect} about={w.protectAbout}>
          <Switch
            aria-label={w.protect}
            checked={vm.isProtected}
            disabled={protect.isPending}
            onChange={(event) => protect.mutate(event.currentTarget.checked)}
          />
        </Setting>
        <Setting name={w.backups} about={w.backupsAbout}>
          <AddOn vm={vm} label={w.backups} field="dailyBackupEnabled" />
        </Setting>
        <Setting name={w.tenGig} about={w.tenGigAbout}>
          <AddOn vm={vm} label={w.tenGig} field="network10gEnabled" />
        </Setting>
      </Card>
      <Card title={w.upgrade} about={w.upgradeAbout}>
        <Upgrade vm={vm} />
      </Card>
      <Card title={w.danger} tone="danger">
        <Setting name={w.password} about={w.passwordAbout}>
          <Verb vm={vm} verb="password" variant="default" onClick={() => setOpen('password')}>
            {w.password}
          </Verb>
        </Setting>
        <Setting name={w.rebuild} about={neverCameUp(vm) ? w.rebuildFirst : w.rebuildAbout}>
          <Verb vm={vm} verb="rebuild" variant="default" onClick={() => setOpen('rebuild')}>
            {w.rebuild}
          </Verb>
        </Setting>
        <Setting name={w.delete} about={w.deleteAbout}>
          <Verb vm={vm} verb="delete" color="red" onClick={() => setOpen('delete')}>
            {w.deleteButton}
          </Verb>
        </Setting>
      </Card>
      {open === 'password' && <SetPassword vm={vm} onClose={close} />}
      {open === 'rebuild' && <RebuildVm vm={vm} onClose={close} />}
      {open === 'delete' && <DeleteVm vm={vm} onClose={close} />}
    </Stack>
  )
}

const Setting = ({ name, about, children }: { name: string; about: string; children: ReactNode }) => (
  <div className={css['setting']}>
    <div>
      <div className={css['settingName']}>{name}</div>
      <div className="muted">{about}</div>
    </div>
    {children}
  </div>
)

function Name({ vm }: { vm: Vm }) {
  const [name, setName] = useState(vm.name)
  const rename = useWrite((body: UpdateVm) => berth.vms.update(vm.id, body), { inForm: true, changes, says: commonWords.saved })
  return (
    <Form
      onSubmit={() => rename.mutate({ name })}
      busy={rename.isPending}
      error={rename.error}
      submit={commonWords.save}
      disabled={name === vm.name || name === ''}
    >
      <TextInput
        label={w.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(rename.error, 'name')}
        maxLength={100}
      />
    </Form>
  )
}
