import { NativeSelect, NumberInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Body, Plan, ResizeQuote, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { plansQuery } from '../../queries/catalog.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatDisk, formatMoney, formatSize, moneyFacts } from '../../ui/format.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { Facts, Row, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { vmMessages } from '../../words/words.ts'
import { ActionButton, disabledReason } from './ActionButton.tsx'

const w = vmMessages.settings
const [DISK, CUSTOM] = ['disk', 'custom']

interface Size {
  vcpu: number
  ram: number
  disk: number
}

/** A disk stays on the storage that it is on, and vCPUs stay dedicated or shared. */
const isOffered = (plan: Plan, vm: Vm): boolean =>
  plan.available &&
  plan.regions.includes(vm.region.slug) &&
  plan.storage === vm.storage &&
  plan.dedicatedCpu === vm.dedicatedCpu &&
  plan.slug !== vm.plan.slug

export function Resize({ vm }: { vm: Vm }) {
  const plans = useQuery(plansQuery)
  return (
    <Loaded of={plans} lines={2}>
      {(all) => <ResizeForm key={`${vm.plan.slug} ${formatSize(vm)}`} vm={vm} plans={all.filter((plan) => isOffered(plan, vm))} />}
    </Loaded>
  )
}

/** Of a plan with a smaller disk, the disk that the VM has is kept: it never shrinks. */
const sizeOf = (plan: Plan, vm: Vm): Size => ({ vcpu: plan.vcpu, ram: plan.ram, disk: Math.max(plan.disk, vm.disk) })

/** With a larger disk it costs more, which the quote says. */
const priceOf = (plan: Plan, vm: Vm): string => (plan.disk < vm.disk ? '' : `, ${formatMoney(plan.priceMonthly, plan.currency)}`)

const isLarger = (plan: Plan, vm: Vm): boolean => plan.vcpu >= vm.vcpu && plan.ram >= vm.ram && plan.disk >= vm.disk

function requestOf(choice: string, plan: Plan | undefined, vm: Vm, { vcpu, ram, disk }: Size): Body<'resizeVm'> {
  if (choice === CUSTOM) return { customConfig: { vcpu, ram, disk } }
  if (!plan) return { disk }
  return plan.disk < vm.disk ? { planId: plan.id, disk: vm.disk } : { planId: plan.id }
}

/** Prices, and what happens, come from a dry run on the server. */
function ResizeForm({ vm, plans }: { vm: Vm; plans: Plan[] }) {
  const [choice, setChoice] = useState(() => (plans.find((plan) => isLarger(plan, vm)) ?? plans[0])?.id ?? DISK)
  const [size, setSize] = useState<Size>({ vcpu: vm.vcpu, ram: vm.ram, disk: vm.disk + 10 })
  const plan = plans.find(({ id }) => id === choice)
  const request = requestOf(choice, plan, vm, size)
  const [settled] = useDebouncedValue(JSON.stringify(request), 300)
  const isSettled = settled === JSON.stringify(request)
  const quote = useQuery({
    queryKey: ['quote', vm.id, 'resize', settled],
    queryFn: ({ signal }) => berth.vms.quoteResize(vm.id, JSON.parse(settled) as Body<'resizeVm'>, { signal }),
    enabled: vm.allowedActions.includes('resize'),
    staleTime: 10_000,
    gcTime: 0, // a revisited size gets a fresh price
  })
  const price = isSettled ? quote.data : undefined
  const [asks, setAsks] = useState(false)
  const name = plan ? (plan.disk < vm.disk ? w.withDisk(plan.name, formatDisk(vm.disk)) : plan.name) : nameOf(choice, vm, size)
  const input = (label: string, part: keyof Size, limits: { min: number; max: number; step?: number }) => (
    <NumberInput label={label} {...limits} value={size[part]} onChange={(value) => setSize({ ...size, [part]: Number(value) })} maw={220} />
  )
  return (
    <Stack gap={16}>
      <NativeSelect
        label={w.choosePlan}
        value={choice}
        onChange={(event) => setChoice(event.currentTarget.value)}
        data={[
          ...plans.map((each) => ({
            value: each.id,
            label: `${each.name}: ${formatSize({ ...sizeOf(each, vm), dedicatedCpu: each.dedicatedCpu })}${priceOf(each, vm)}`,
          })),
          { value: DISK, label: w.diskOnly },
          ...(vm.storage === 'LOCAL' && !vm.dedicatedCpu ? [{ value: CUSTOM, label: w.customSize }] : []),
        ]}
        maw={460}
      />
      {!plan && (
        <Row gap={12}>
          {choice === CUSTOM && input(w.vcpu, 'vcpu', { min: 1, max: 64 })}
          {choice === CUSTOM && input(w.ramMiB, 'ram', { min: 512, max: 262_144, step: 256 })}
          {input(w.diskGiB, 'disk', { min: vm.disk, max: 4096 })}
        </Row>
      )}
      {price && <Price quote={price} />}
      {isSettled && <ErrorAlert error={quote.error} />}
      <Row>
        <ActionButton vm={vm} action="resize" disabled={!price && disabledReason(vm, 'resize') === null} onClick={() => setAsks(true)}>
          {w.resizeTo(name)}
        </ActionButton>
      </Row>
      {asks && price && <ConfirmResize vm={vm} name={name} request={request} quote={price} onClose={() => setAsks(false)} />}
    </Stack>
  )
}

const nameOf = (choice: string, vm: Vm, { vcpu, ram, disk }: Size): string =>
  choice === CUSTOM ? formatSize({ vcpu, ram, disk }) : formatSize({ ...vm, disk })

const Price = ({ quote: { charge, monthly, balanceAfter, currency } }: { quote: ResizeQuote }) => (
  <Facts
    facts={[
      charge.startsWith('-') ? [w.refundToday, formatMoney(charge.slice(1), currency)] : [w.dueToday, formatMoney(charge, currency)],
      [w.newMonthly, formatMoney(monthly, currency)],
      ...moneyFacts(w.balanceAfter, balanceAfter, currency),
    ]}
  />
)

interface ConfirmProps {
  vm: Vm
  name: string
  request: Body<'resizeVm'>
  quote: ResizeQuote
  onClose: () => void
}

function ConfirmResize({ vm, name, request, quote, onClose }: ConfirmProps) {
  const write = useWrite(() => berth.vms.resize(vm.id, request), {
    inForm: true,
    invalidates: ['vm', 'vms', 'wallet', 'actions'],
    successMessage: w.resizing,
  })
  const effect = vm.status !== 'RUNNING' ? w.resizeStopped : quote.restarts ? w.resizeReboots : w.resizeLive
  return (
    <ConfirmDialog title={w.resizeTitle(vm.name, name)} submit={w.resizeButton} write={write} onClose={onClose} danger={false}>
      <Stack gap={14}>
        <p>{effect}</p>
        <Price quote={quote} />
      </Stack>
    </ConfirmDialog>
  )
}
