import { MultiSelect, NumberInput, SegmentedControl } from '@mantine/core'
import type { Plan } from '@berth/sdk'
import { formatMoney, formatSize, formatSpeed, formatTraffic } from '../../ui/format.ts'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { Choice } from './Choice.tsx'
import css from './create-vm.module.css'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  plans: Plan[]
  /** Why it cannot be had, in words; null where it can. */
  obstacleOf: (plan: Plan) => string | null
  alternatives: { value: string; label: string }[]
}

export const SizeStep = ({ form, set, plans, obstacleOf, alternatives }: Props) => (
  <Stack gap={16}>
    <SegmentedControl
      aria-label={w.sizeKind}
      value={form.kind}
      onChange={(kind) => set({ kind: kind as VmForm['kind'] })}
      data={[
        { value: 'plan', label: w.plan },
        { value: 'custom', label: w.custom },
      ]}
      style={{ alignSelf: 'flex-start' }}
    />
    {form.kind === 'plan' ? (
      <Choice
        legend={w.plan}
        name="plan"
        items={plans}
        value={form.planId}
        idOf={(plan) => plan.id}
        disabled={(plan) => obstacleOf(plan) !== null}
        onChange={(planId) => set({ planId })}
      >
        {(plan) => <PlanCard plan={plan} obstacle={obstacleOf(plan)} />}
      </Choice>
    ) : (
      <div className={css['fields']}>
        <NumberInput label={w.vcpu} min={1} max={64} value={form.vcpu} onChange={(value) => set({ vcpu: Number(value) })} />
        <NumberInput
          label={w.ram}
          description={w.ramHint}
          min={512}
          max={262_144}
          step={256}
          value={form.ram}
          onChange={(value) => set({ ram: Number(value) })}
        />
        <NumberInput
          label={w.disk}
          description={w.diskHint}
          min={5}
          max={4096}
          value={form.disk}
          onChange={(value) => set({ disk: Number(value) })}
        />
      </div>
    )}
    {alternatives.length > 0 && (
      <MultiSelect
        label={w.alternatives}
        description={w.alternativesHint}
        placeholder={form.alternatives.length === 0 ? w.alternativesNone : ''}
        data={alternatives}
        value={form.alternatives}
        onChange={(chosen) => set({ alternatives: chosen })}
        maxValues={5}
        searchable
        clearable
      />
    )}
  </Stack>
)

const PlanCard = ({ plan, obstacle }: { plan: Plan; obstacle: string | null }) => (
  <>
    <span className={css['optionName']}>{plan.name}</span>
    <span className={css['optionText']}>
      {formatSize({ ...plan, dedicatedCpu: false })}
      <br />
      {w.traffic(formatTraffic(plan.bandwidth))} · {formatSpeed(plan.networkSpeed)}
      {plan.dedicatedCpu && (
        <>
          <br />
          {w.dedicatedCpu}
        </>
      )}
      {plan.storage === 'REPLICATED' && (
        <>
          <br />
          {w.replicated}
        </>
      )}
      {obstacle !== null && (
        <>
          <br />
          {obstacle}
        </>
      )}
    </span>
    <span className={css['price']}>
      {formatMoney(plan.priceMonthly, plan.currency)} <span>{w.perMonth}</span>
    </span>
  </>
)
