import { Switch } from '@mantine/core'
import type { Firewall, Network } from '@berth/sdk'
import { fieldError } from '../../api/errors.ts'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { CheckboxList } from './CheckboxList.tsx'
import css from './create-vm.module.css'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  networks: Network[]
  firewalls: Firewall[]
  /** The name of the chosen one: networks of another cannot be attached. */
  region: string
  /** What a month costs less without a public IPv4 address; null where nothing. */
  ipv4Saving: string | null
  error: unknown
}

export const NetworkStep = ({ form, set, networks, firewalls, region, ipv4Saving, error }: Props) => (
  <Stack gap={18}>
    <Switch
      label={w.publicIpv4}
      description={ipv4Saving === null ? w.publicIpv4About : w.publicIpv4Saving(ipv4Saving)}
      checked={form.publicIpv4}
      onChange={(event) => set({ publicIpv4: event.currentTarget.checked })}
      error={fieldError(error, 'publicIpv4')}
    />
    <div className={css['checks']}>
      <CheckboxList
        label={w.networks}
        none={w.noNetworks}
        items={networks.map(({ id, name, cidr, region: of }) => ({
          id,
          name,
          about: of.name === region ? cidr : w.otherRegion(of.name),
          isOff: of.name !== region,
        }))}
        value={form.privateNetworkIds}
        onChange={(privateNetworkIds) => set({ privateNetworkIds })}
        error={fieldError(error, 'privateNetworkIds')}
      />
      <CheckboxList
        label={w.firewalls}
        none={w.noFirewalls}
        items={firewalls.map(({ id, name, description }) => ({ id, name, about: description, isOff: false }))}
        value={form.firewallIds}
        onChange={(firewallIds) => set({ firewallIds })}
        error={fieldError(error, 'firewallIds')}
      />
    </div>
  </Stack>
)
