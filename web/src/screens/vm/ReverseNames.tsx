import { Button } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { reverseNameMessages as w } from '../../words/words.ts'
import { Card } from '../../ui/Page.tsx'
import { ReverseName, ReverseNameDialog } from '../../ui/ReverseName.tsx'
import css from './vm.module.css'

type Field = 'reverseName' | 'ipv6ReverseName'

/** Of the public addresses that the VM has. */
export function ReverseNames({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Field | null>(null)
  const all = [
    { field: 'reverseName', address: vm.ipAddress, name: vm.reverseName, state: vm.reverseNameState, reason: vm.reverseNameReason },
    {
      field: 'ipv6ReverseName',
      address: vm.ipv6Address,
      name: vm.ipv6ReverseName,
      state: vm.ipv6ReverseNameState,
      reason: vm.ipv6ReverseNameReason,
    },
  ] as const
  const named = all.flatMap(({ address, ...rest }) => (address === null ? [] : [{ address, ...rest }]))
  const edited = named.find(({ field }) => field === open)
  if (named.length === 0) return null
  return (
    <Card title={w.title} about={w.about}>
      <ul className={css['simple']}>
        {named.map(({ field, address, ...shown }) => (
          <li key={field}>
            <code>{address}</code>
            <ReverseName {...shown} />
            <Button variant="subtle" size="xs" aria-label={w.setOf(address)} onClick={() => setOpen(field)}>
              {w.set}
            </Button>
          </li>
        ))}
      </ul>
      {edited && (
        <ReverseNameDialog
          address={edited.address}
          name={edited.name}
          field={edited.field}
          write={(name) => berth.vms.update(vm.id, { [edited.field]: name })}
          invalidates="vm"
          onClose={() => setOpen(null)}
        />
      )}
    </Card>
  )
}
