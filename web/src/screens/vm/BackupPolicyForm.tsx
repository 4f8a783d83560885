import { NativeSelect, NumberInput } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'

const w = vmMessages.settings

type Policy = Vm['backupPolicy']

const HOURS = [
  { value: '', label: w.anyHour },
  ...Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${String(hour).padStart(2, '0')}:00` })),
]

export function BackupPolicyForm({ vm }: { vm: Vm }) {
  const [policy, setPolicy] = useState<Policy>(vm.backupPolicy)
  const change = useWrite((backupPolicy: Policy) => berth.vms.update(vm.id, { backupPolicy }), {
    inForm: true,
    invalidates: ['vm', 'vms'],
    successMessage: commonMessages.saved,
  })
  const keep = (field: 'keepDaily' | 'keepWeekly' | 'keepMonthly', min: number, max: number) => (
    <NumberInput
      label={w[field]}
      value={policy[field]}
      min={min}
      max={max}
      allowDecimal={false}
      onChange={(value) => setPolicy({ ...policy, [field]: Number(value) })}
      error={fieldError(change.error, `backupPolicy.${field}`)}
    />
  )
  return (
    <Form
      onSubmit={() => change.mutate(policy)}
      busy={change.isPending}
      error={change.error}
      submit={commonMessages.save}
      disabled={JSON.stringify(policy) === JSON.stringify(vm.backupPolicy)}
    >
      <NativeSelect
        label={w.hour}
        value={policy.hour === null ? '' : String(policy.hour)}
        data={HOURS}
        onChange={(event) => setPolicy({ ...policy, hour: event.currentTarget.value === '' ? null : Number(event.currentTarget.value) })}
      />
      {keep('keepDaily', 1, 31)}
      {keep('keepWeekly', 0, 53)}
      {keep('keepMonthly', 0, 24)}
    </Form>
  )
}
