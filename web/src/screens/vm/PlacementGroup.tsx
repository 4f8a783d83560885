import { Select } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { placementGroupsQuery } from '../../queries/vms.ts'
import { commonMessages, placementGroupMessages, vmMessages } from '../../words/words.ts'

const w = vmMessages.settings

export function PlacementGroup({ vm }: { vm: Vm }) {
  const groups = useQuery(placementGroupsQuery()).data?.items ?? []
  const change = useWrite((placementGroupId: string | null) => berth.vms.update(vm.id, { placementGroupId }), {
    invalidates: ['vm', 'vms', 'placement-groups'],
    successMessage: commonMessages.saved,
  })
  return (
    <Select
      aria-label={w.placementGroup}
      placeholder={commonMessages.none}
      data={groups.map(({ id, name, policy }) => ({ value: id, label: `${name} (${placementGroupMessages.policies[policy]})` }))}
      value={vm.placementGroup?.id ?? null}
      disabled={change.isPending || (groups.length === 0 && !vm.placementGroup)}
      onChange={(id) => change.mutate(id)}
      clearable
    />
  )
}
