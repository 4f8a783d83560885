import { Checkbox, Select, Switch } from '@mantine/core'
import type { Firewall, Network, PlacementGroup } from '@berth/sdk'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages as w, placementGroupMessages } from '../../words/words.ts'
import css from './create-vm.module.css'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
}

export const NetworkStep = ({ form, set, networks, firewalls }: Props & { networks: Network[]; firewalls: Firewall[] }) => (
  <div className={css['checks']}>
    <CheckboxList
      label={w.networks}
      none={w.noNetworks}
      items={networks.map(({ id, name, cidr }) => ({ id, name, about: cidr }))}
      value={form.privateNetworkIds}
      onChange={(privateNetworkIds) => set({ privateNetworkIds })}
    />
    <CheckboxList
      label={w.firewalls}
      none={w.noFirewalls}
      items={firewalls.map(({ id, name, description }) => ({ id, name, about: description }))}
      value={form.firewallIds}
      onChange={(firewallIds) => set({ firewallIds })}
    />
  </div>
)

interface CheckboxListProps {
  label: string
  none: string
  items: { id: string; name: string; about: string }[]
  value: string[]
  onChange: (ids: string[]) => void
}

const CheckboxList = ({ label, none, items, value, onChange }: CheckboxListProps) => (
  <Checkbox.Group label={label} value={value} onChange={onChange}>
    <Stack gap={8}>
      <div />
      {items.length === 0 && <span className="muted">{none}</span>}
      {items.map(({ id, name, about }) => (
        <Checkbox key={id} value={id} label={name} description={about} />
      ))}
    </Stack>
  </Checkbox.Group>
)

export const AddOnStep = ({ form, set, groups }: Props & { groups: PlacementGroup[] }) => (
  <div className={css['checks']}>
    <Switch
      label={w.publicIpv4}
      description={w.publicIpv4About}
      checked={form.publicIpv4}
      onChange={(event) => set({ publicIpv4: event.currentTarget.checked })}
    />
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
    {groups.length > 0 && (
      <Select
        label={w.placementGroup}
        description={w.placementGroupAbout}
        placeholder={w.noPlacementGroup}
        data={groups.map(({ id, name, policy }) => ({ value: id, label: `${name} (${placementGroupMessages.policies[policy]})` }))}
        value={form.placementGroupId || null}
        onChange={(placementGroupId) => set({ placementGroupId: placementGroupId ?? '' })}
        clearable
      />
    )}
  </div>
)
