import type { Vm } from '@berth/sdk'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatSpeed } from '../../ui/format.ts'
import { Meter } from '../../ui/Meter.tsx'
import { Facts } from '../../ui/Page.tsx'
import { vmsMessages } from '../../messages/vms.ts'
import { vmMessages as w } from '../../messages/vm.ts'

export const Traffic = ({ vm }: { vm: Vm }) => (
  <Facts
    facts={[
      [w.facts.address, vm.ipAddress ? <Copyable key="" text={vm.ipAddress} what={vmsMessages.address} /> : w.noAddress],
      [w.facts.speed, formatSpeed(vm.networkSpeed)],
      [w.facts.traffic, <TrafficMeter key="" vm={vm} />],
    ]}
  />
)

export function TrafficMeter({ vm }: { vm: Vm }) {
  const cap = vm.bandwidth === 0 ? null : vm.bandwidth * 1e9 + Number(vm.bandwidthPackBytes)
  const text = vmsMessages.traffic(formatBytes(vm.bandwidthUsedBytes), cap === null ? null : formatBytes(cap))
  return cap === null ? text : <Meter used={vm.bandwidthUsedBytes} of={cap} label={vmsMessages.trafficOf(vm.name)} text={text} />
}
