import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import type { Plan } from '@berth/sdk'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRequest } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'

const w = operatorMessages.plans

const FIRST: Pick<
  Plan,
  | 'name'
  | 'slug'
  | 'vcpu'
  | 'ram'
  | 'disk'
  | 'dedicatedCpu'
  | 'traits'
  | 'storage'
  | 'bandwidth'
  | 'networkSpeed'
  | 'throttleMbps'
  | 'available'
> & { price: string } = {
  name: '',
  slug: '',
  vcpu: 1,
  ram: 1024,
  disk: 20,
  dedicatedCpu: false,
  traits: [],
  storage: 'LOCAL',
  bandwidth: 1000,
  networkSpeed: 1000,
  throttleMbps: 10,
  price: '5.00',
  available: true,
}
const SIZES = ['vcpu', 'ram', 'disk'] as const
const NUMBERS = [...SIZES, 'bandwidth', 'networkSpeed', 'throttleMbps'] as const
const LABELS = { vcpu: w.vcpu, ram: w.ram, disk: w.disk, bandwidth: w.traffic, networkSpeed: w.speed, throttleMbps: w.throttle }

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Creates a plan, or edits the given one; the size and storage of an existing plan cannot change. */
export function PlanDialog({ plan, onClose }: { plan?: Plan; onClose: () => void }) {
  const [values, setValues] = useState(plan ? { ...plan, price: plan.priceMonthly } : FIRST)
  const set = (change: Partial<typeof FIRST>): void => setValues((now) => ({ ...now, ...change }))
  const [traits, setTraits] = useState(values.traits.join(', '))
  const { name, slug, vcpu, ram, disk, dedicatedCpu, storage, bandwidth, networkSpeed, throttleMbps, price, available } = values
  const changeable = { name, price, available, bandwidth, networkSpeed, throttleMbps, dedicatedCpu, traits: splitList(traits) }
  const save = useWrite(
    () =>
      plan
        ? operatorRequest('PATCH', `/plans/${plan.id}`, changeable)
        : operatorRequest('POST', '/plans', { ...changeable, slug, vcpu, ram, disk, storage }),
    { inForm: true, invalidates: ['operator', 'plans'], successMessage: plan ? commonMessages.saved : w.created, onDone: onClose },
  )
  return (
    <Dialog title={plan ? w.edit : w.create} onClose={onClose}>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={commonMessages.save} onCancel={onClose}>
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={fieldError(save.error, 'name')}
          data-autofocus
        />
        {!plan && (
          <TextInput
            label={w.slug}
            value={slug}
            onChange={(event) => set({ slug: event.currentTarget.value })}
            error={fieldError(save.error, 'slug')}
          />
        )}
        {!plan && (
          <NativeSelect
            label={w.storage}
            value={storage}
            onChange={(event) => set({ storage: event.currentTarget.value as Plan['storage'] })}
            data={[
              { value: 'LOCAL', label: w.storageKinds.LOCAL },
              { value: 'REPLICATED', label: w.storageKinds.REPLICATED },
            ]}
            error={fieldError(save.error, 'storage')}
          />
        )}
        {NUMBERS.filter((field) => !plan || !SIZES.some((size) => size === field)).map((field) => (
          <NumberInput
            key={field}
            label={LABELS[field]}
            min={0}
            value={values[field]}
            onChange={(value) => set({ [field]: Number(value) })}
            error={fieldError(save.error, field)}
          />
        ))}
        <TextInput
          label={w.price}
          inputMode="decimal"
          value={price}
          onChange={(event) => set({ price: event.currentTarget.value.trim() })}
          error={fieldError(save.error, 'price')}
        />
        <TextInput
          label={w.traits}
          description={w.traitsHint}
          value={traits}
          onChange={(event) => setTraits(event.currentTarget.value)}
          error={fieldError(save.error, 'traits')}
        />
        <Switch label={w.dedicatedCpu} checked={dedicatedCpu} onChange={(event) => set({ dedicatedCpu: event.currentTarget.checked })} />
        <Switch label={w.availableToCustomers} checked={available} onChange={(event) => set({ available: event.currentTarget.checked })} />
      </Form>
    </Dialog>
  )
}
