import { NativeSelect } from '@mantine/core'
import type { Plan, Quote, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { plansQuery } from '../../queries/catalog.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatMoney, formatSize } from '../../ui/format.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { Facts, Row, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { vmMessages } from '../../messages/vm.ts'
import { ActionButton, disabledReason } from './ActionButton.tsx'

const w = vmMessages.settings

/** A disk stays on the storage that it is on, and vCPUs stay dedicated or shared. */
const isLarger = (plan: Plan, vm: Vm): boolean =>
  plan.storage === vm.storage &&
  plan.dedicatedCpu === vm.dedicatedCpu &&
  plan.vcpu >= vm.vcpu &&
  plan.ram >= vm.ram &&
  plan.disk >= vm.disk &&
  (plan.vcpu > vm.vcpu || plan.ram > vm.ram || plan.disk > vm.disk)

export function Upgrade({ vm }: { vm: Vm }) {
  const plans = useQuery(plansQuery)
  return (
    <Loaded of={plans} lines={2}>
      {(all) => {
        const larger = all.filter((plan) => plan.available && plan.regions.includes(vm.region.slug) && isLarger(plan, vm))
        return larger.length === 0 ? <p className="muted">{w.largest}</p> : <UpgradeForm vm={vm} plans={larger} />
      }}
    </Loaded>
  )
}

/** The prorated price comes from a dry run on the server. */
function UpgradeForm({ vm, plans }: { vm: Vm; plans: Plan[] }) {
  const [chosen, setChosen] = useState('')
  const plan = plans.find(({ id }) => id === chosen) ?? plans[0]!
  const quote = useQuery({
    queryKey: ['quote', vm.id, 'upgrade', plan.id],
    queryFn: ({ signal }) => berth.vms.quoteUpgrade(vm.id, plan.id, { signal }),
    enabled: vm.allowedActions.includes('upgrade'),
    staleTime: 10_000,
    gcTime: 0, // a revisited plan gets a fresh price
  })
  const [asks, setAsks] = useState(false)
  return (
    <Stack gap={16}>
      <NativeSelect
        label={w.choosePlan}
        value={plan.id}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={plans.map((each) => ({
          value: each.id,
          label: `${each.name}: ${formatSize(each)}, ${formatMoney(each.priceMonthly, each.currency)}`,
        }))}
        maw={460}
      />
      {quote.data && <Price quote={quote.data} />}
      <ErrorAlert error={quote.error} />
      <Row>
        <ActionButton
          vm={vm}
          action="upgrade"
          disabled={!quote.data && disabledReason(vm, 'upgrade') === null}
          onClick={() => setAsks(true)}
        >
          {w.upgradeTo(plan.name)}
        </ActionButton>
      </Row>
      {asks && quote.data && <ConfirmUpgrade vm={vm} plan={plan} quote={quote.data} onClose={() => setAsks(false)} />}
    </Stack>
  )
}

const Price = ({ quote: { charge, monthly, balanceAfter, currency } }: { quote: Quote }) => (
  <Facts
    facts={[
      [w.dueToday, formatMoney(charge, currency)],
      [w.newMonthly, formatMoney(monthly, currency)],
      [w.balanceAfter, formatMoney(balanceAfter, currency)],
    ]}
  />
)

function ConfirmUpgrade({ vm, plan, quote, onClose }: { vm: Vm; plan: Plan; quote: Quote; onClose: () => void }) {
  const write = useWrite(() => berth.vms.upgrade(vm.id, plan.id), {
    inForm: true,
    invalidates: ['vm', 'vms', 'wallet', 'actions'],
    successMessage: w.upgrading,
  })
  return (
    <ConfirmDialog title={w.upgradeTitle(vm.name, plan.name)} submit={w.upgradeButton} write={write} onClose={onClose} danger={false}>
      <Stack gap={14}>
        <p>{vm.status === 'RUNNING' ? w.upgradeReboots : w.upgradeStopped}</p>
        <Price quote={quote} />
      </Stack>
    </ConfirmDialog>
  )
}
