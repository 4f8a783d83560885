import { Switch, TextInput } from '@mantine/core'
import type { UpdateVm, Vm } from '@berth/sdk'
import { useState, type ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { LabelsForm } from '../../ui/Labels.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { AddOn } from './AddOn.tsx'
import { BackupPolicyForm } from './BackupPolicyForm.tsx'
import { DeleteVm, RebuildVm, ResetVmPassword } from './DangerZone.tsx'
import { PlacementGroup } from './PlacementGroup.tsx'
import { Resize } from './Resize.tsx'
import { failedToProvision, ActionButton } from './ActionButton.tsx'
import css from './vm.module.css'

const w = vmMessages.settings
const invalidates = ['vm', 'vms']

export function VmSettings({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<'password' | 'rebuild' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const isShelved = vm.shelvedAt !== null
  const protect = useWrite((isProtected: boolean) => berth.vms.update(vm.id, { isProtected }), {
    invalidates,
    successMessage: commonMessages.saved,
  })
  return (
    <Stack>
      <Card title={w.general}>
        <div className={css['name']}>
          <NameForm key={vm.name} vm={vm} />
        </div>
        <div style={{ height: 20 }} />
        <LabelsForm
          key={JSON.stringify(vm.labels)}
          labels={vm.labels}
          write={(labels) => berth.vms.update(vm.id, { labels })}
          invalidates={invalidates}
        />
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
        <Setting name={w.placementGroup} about={isShelved ? w.placementGroupShelved : w.placementGroupAbout}>
          <PlacementGroup vm={vm} />
        </Setting>
      </Card>
      {vm.dailyBackupEnabled && (
        <Card title={w.policy} about={w.policyAbout}>
          <BackupPolicyForm key={JSON.stringify(vm.backupPolicy)} vm={vm} />
        </Card>
      )}
      <Card title={w.resize} about={isShelved ? undefined : w.resizeAbout}>
        {isShelved ? <p className="muted">{w.resizeShelved}</p> : <Resize vm={vm} />}
      </Card>
      <Card title={w.danger} tone="danger">
        <Setting name={w.password} about={w.passwordAbout}>
          <ActionButton vm={vm} action="password" variant="default" onClick={() => setOpen('password')}>
            {w.password}
          </ActionButton>
        </Setting>
        <Setting name={w.rebuild} about={failedToProvision(vm) ? w.rebuildFailed : w.rebuildAbout}>
          <ActionButton vm={vm} action="rebuild" variant="default" onClick={() => setOpen('rebuild')}>
            {w.rebuildButton}
          </ActionButton>
        </Setting>
        <Setting name={w.delete} about={w.deleteAbout}>
          <ActionButton vm={vm} action="delete" color="red" onClick={() => setOpen('delete')}>
            {w.deleteButton}
          </ActionButton>
        </Setting>
      </Card>
      {open === 'password' && <ResetVmPassword vm={vm} onClose={close} />}
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

function NameForm({ vm }: { vm: Vm }) {
  const [name, setName] = useState(vm.name)
  const rename = useWrite((body: UpdateVm) => berth.vms.update(vm.id, body), {
    inForm: true,
    invalidates,
    successMessage: commonMessages.saved,
  })
  return (
    <Form
      onSubmit={() => rename.mutate({ name })}
      busy={rename.isPending}
      error={rename.error}
      submit={commonMessages.save}
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
