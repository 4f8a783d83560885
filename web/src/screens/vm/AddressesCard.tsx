import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { addressesQuery } from '../../queries/network.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { ReverseName } from '../../ui/ReverseName.tsx'
import { commonMessages, vmMessages as w } from '../../words/words.ts'
import css from './overview.module.css'
import { publicAddresses } from './Traffic.tsx'

/** Every address that the VM answers at, each with what it is called. */
export function AddressesCard({ vm }: { vm: Vm }) {
  const floating = (useQuery(addressesQuery({ vmId: vm.id, limit: 100 })).data?.items ?? []).filter(({ vmId }) => vmId === vm.id)
  const names: Record<string, ReactNode> = {
    [w.facts.address]: vm.ipAddress && <Named name={vm.reverseName} state={vm.reverseNameState} reason={vm.reverseNameReason} />,
    [w.facts.ipv6]: <Named name={vm.ipv6ReverseName} state={vm.ipv6ReverseNameState} reason={vm.ipv6ReverseNameReason} />,
  }
  return (
    <Card
      title={w.addresses.title}
      actions={
        <TextLink to="/vms/$vmId" params={{ vmId: vm.id }} search={{ tab: 'networking' }}>
          {w.tabs.networking}
        </TextLink>
      }
    >
      <dl className={css['addresses']}>
        {publicAddresses(vm).map(([name, value]) => (
          <Address key={name} name={name}>
            {value}
            {names[name]}
          </Address>
        ))}
        <Address name={w.facts.privateAddress}>
          {vm.privateNetworks.length === 0 && <span className="muted">{commonMessages.none}</span>}
          {vm.privateNetworks.map(({ id, name, ipAddress }) => (
            <div key={id} className={css['address']}>
              <Copyable text={ipAddress} what={w.networking.addressIn(name)} />
              <span className={css['network']} title={name}>
                <TextLink to="/networks/$networkId" params={{ networkId: id }}>
                  {name}
                </TextLink>
              </span>
            </div>
          ))}
        </Address>
        {floating.length > 0 && (
          <Address name={w.facts.floating}>
            {floating.map(({ id, address, reverseName, reverseNameState, reverseNameReason }) => (
              <div key={id}>
                <Copyable text={address} what={w.floatingAddress} />
                <Named name={reverseName} state={reverseNameState} reason={reverseNameReason} />
              </div>
            ))}
          </Address>
        )}
      </dl>
    </Card>
  )
}

const Address = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Nothing where it has no name. */
const Named = (props: Parameters<typeof ReverseName>[0]) =>
  props.name === null ? null : (
    <div className={css['reverse']}>
      <ReverseName {...props} />
    </div>
  )
