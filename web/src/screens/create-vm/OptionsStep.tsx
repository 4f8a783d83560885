import { MultiSelect, Select, Switch } from '@mantine/core'
import type { PlacementGroup } from '@berth/sdk'
import { fieldError } from '../../api/errors.ts'
import { LabelsInput } from '../../ui/Labels.tsx'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages as w, placementGroupMessages } from '../../words/words.ts'
import css from './create-vm.module.css'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  error: unknown
}

export const AddOnStep = ({ form, set }: Omit<Props, 'error'>) => (
  <div className={css['checks']}>
    <Switch
      label={w.dailyBackup}
      description={w.dailyBackupAbout}
      checked={form.dailyBackupEnabled}
      onChange={(event) => set({ dailyBackupEnabled: event.currentTarget.checked })}
    />
    <Switch
      label={w.tenGig}
      description={w.tenGigAbout}
      checked={form.network10gEnabled}
      onChange={(event) => set({ network10gEnabled: event.currentTarget.checked })}
    />
    <Switch
      label={w.protect}
      description={w.protectAbout}
      checked={form.isProtected}
      onChange={(event) => set({ isProtected: event.currentTarget.checked })}
    />
  </div>
)

interface PlacementProps extends Props {
  groups: PlacementGroup[]
  alternatives: { value: string; label: string }[]
}

export const PlacementStep = ({ form, set, groups, alternatives, error }: PlacementProps) => (
  <Stack gap={18}>
    <LabelsInput texts={form.labels} onChange={(labels) => set({ labels })} error={error} />
    {groups.length > 0 && (
      <Select
        label={w.placementGroup}
        description={w.placementGroupAbout}
        placeholder={w.noPlacementGroup}
        data={groups.map(({ id, name, policy }) => ({ value: id, label: `${name} (${placementGroupMessages.policies[policy]})` }))}
        value={form.placementGroupId || null}
        onChange={(placementGroupId) => set({ placementGroupId: placementGroupId ?? '' })}
        error={fieldError(error, 'placementGroupId')}
        clearable
      />
    )}
    {alternatives.length > 0 && (
      <MultiSelect
        label={w.alternatives}
        description={w.alternativesHint}
        placeholder={form.alternatives.length === 0 ? w.alternativesNone : ''}
        data={alternatives}
        value={form.alternatives}
        onChange={(chosen) => set({ alternatives: chosen })}
        error={fieldError(error, 'alternatives')}
        maxValues={5}
        searchable
        clearable
      />
    )}
  </Stack>
)
