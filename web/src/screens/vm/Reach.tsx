import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { vmMessages } from '../../words/words.ts'
import { ReachCheck } from './ReachCheck.tsx'

const w = vmMessages.networking

export function Reach({ vm }: { vm: Vm }) {
  const others = (useQuery(vmChoicesQuery).data?.items ?? []).filter(({ id }) => id !== vm.id)
  return <ReachCheck title={w.reach} about={w.reachAbout} from={vm.id} vms={others} toLabel={w.reachTo} first={others[0]?.id} />
}
