import type { Address, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { addressesQuery } from '../../queries/network.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatShare, formatSpeed } from '../../ui/format.ts'
import { Meter } from '../../ui/Meter.tsx'
import { Facts } from '../../ui/Page.tsx'
import { vmMessages as w, vmsMessages } from '../../words/words.ts'

export function Traffic({ vm }: { vm: Vm }) {
  // Those of the VM shown before stand in until these are loaded.
  const floating = useQuery(addressesQuery({ vmId: vm.id, limit: 100 })).data?.items.filter(({ vmId }) => vmId === vm.id) ?? []
  return (
    <Facts
      facts={[
        ...publicAddresses(vm),
        ...(floating.length > 0 ? [[w.facts.floating, <FloatingAddresses key="" of={floating} />] as [string, ReactNode]] : []),
        [w.facts.speed, formatSpeed(vm.networkSpeed)],
        [w.facts.traffic, <TrafficMeter key="" vm={vm} />],
      ]}
    />
  )
}

const FloatingAddresses = ({ of }: { of: Address[] }) =>
  of.map(({ id, name, address }) => (
    <div key={id}>
      <Copyable text={address} what={w.floatingAddress} /> {name !== address && name}
    </div>
  ))

/** IPv6 only where the VM has it. */
export function publicAddresses({ status, publicIpv4, ipAddress, ipv6Address, ipv6Prefix }: Vm): [string, ReactNode][] {
  const ipv4 = ipAddress ? (
    <Copyable text={ipAddress} what={vmsMessages.address} />
  ) : publicIpv4 ? (
    status === 'ERROR' ? (
      vmsMessages.noAddress
    ) : (
      w.noAddress
    )
  ) : (
    w.noIpv4
  )
  return [
    [w.facts.address, ipv4],
    ...(ipv6Address ? [[w.facts.ipv6, <Copyable key="" text={ipv6Address} what={w.ipv6Address} />] as [string, ReactNode]] : []),
    ...(ipv6Prefix ? [[w.facts.ipv6Prefix, <Copyable key="" text={ipv6Prefix} what={w.ipv6Prefix} />] as [string, ReactNode]] : []),
  ]
}

/** `showsShare`: also as a part of a hundred. */
export function TrafficMeter({ vm, showsShare = false }: { vm: Vm; showsShare?: boolean }) {
  const cap = vm.bandwidth === 0 ? null : vm.bandwidth * 1e9 + Number(vm.bandwidthPackBytes)
  const text = vmsMessages.traffic(formatBytes(vm.bandwidthUsedBytes), cap === null ? null : formatBytes(cap))
  if (cap === null) return text
  const shown = showsShare ? w.trafficShare(text, formatShare(vm.bandwidthUsedBytes / cap)) : text
  return <Meter used={vm.bandwidthUsedBytes} of={cap} label={vmsMessages.trafficOf(vm.name)} text={shown} />
}
