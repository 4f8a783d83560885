import { NumberInput, SegmentedControl } from '@mantine/core'
import type { Plan } from '@berth/sdk'
import { fieldError } from '../../api/errors.ts'
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
  /** Why another plan is chosen than the one before. */
  note: string | null
  error: unknown
}

const SIZES = [
  { field: 'vcpu', label: w.vcpu, hint: w.vcpuHint, min: 1, max: 64, step: 1 },
  { field: 'ram', label: w.ram, hint: w.ramHint, min: 512, max: 262_144, step: 256 },
  { field: 'disk', label: w.disk, hint: w.diskHint, min: 5, max: 4096, step: 5 },
] as const

export const SizeStep = ({ form, set, plans, obstacleOf, note, error }: Props) => (
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
        {SIZES.map(({ field, label, hint, ...limits }) => (
          <NumberInput
            key={field}
            label={label}
            description={hint}
            value={form[field]}
            onChange={(value) => set({ [field]: Number(value) })}
            error={fieldError(error, `customConfig.${field}`)}
            {...limits}
          />
        ))}
      </div>
    )}
    {note !== null && <output className="muted">{note}</output>}
  </Stack>
)

const PlanCard = ({ plan, obstacle }: { plan: Plan; obstacle: string | null }) => (
  <>
    <span className={css['planHead']}>
      <span className={css['optionName']}>{plan.name}</span>
      <span className={css['price']}>
        {formatMoney(plan.priceMonthly, plan.currency)} <span>{w.perMonth}</span>
      </span>
    </span>
    <span className={css['optionText']}>
      {formatSize({ ...plan, dedicatedCpu: false })}
      <br />
      {w.traffic(formatTraffic(plan.bandwidth))} · {formatSpeed(plan.networkSpeed)}
    </span>
    {(plan.dedicatedCpu || plan.storage === 'REPLICATED') && (
      <span className={css['traits']}>
        {plan.dedicatedCpu && <span>{w.dedicatedCpu}</span>}
        {plan.storage === 'REPLICATED' && <span>{w.replicated}</span>}
      </span>
    )}
    {obstacle !== null && <span className={css['obstacle']}>{obstacle}</span>}
  </>
)
