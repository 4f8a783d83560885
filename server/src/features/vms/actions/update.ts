import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import { requireSelected } from '../../budgets/service.ts'
import { getRegion } from '../../catalog/service.ts'
import type { Deps } from '../../deps.ts'
import { getHost, has10g, require10g } from '../../hosts/service.ts'
import { changeGroup } from '../../placement-groups/service.ts'
import { setReverseName } from '../../reverse-names/service.ts'
import { charge, type Quote, toQuote } from '../../wallet/service.ts'
import { billForAddOns } from '../billing/add-ons.ts'
import { changeBackupPolicy } from '../model/backup-policy.ts'
import { getVmRow } from '../model/machine-spec.ts'
import type { AddOns } from '../billing/pricing.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import type { UpdateVm, Vm } from '../schema.ts'
import { lockOwnVm, preemptOpenRun } from '../model/guards.ts'
import { notifyResized } from '../model/hooks.ts'
import { getVm } from '../model/read.ts'
import * as sql from '../model/sql.ts'

/** These actions decide the price of the period when they end, so no add-on can be sold before. */
const PRICED_BY_ACTION = new Set<string>(['PROVISIONING', 'UPGRADING'])

export async function update(
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  change: UpdateVm,
  dryRun = false,
): Promise<Vm | DryRunResult<Quote>> {
  if (Object.keys(change).length === 0)
    throw invalid(
      'give at least one of name, isProtected, dailyBackupEnabled, network10gEnabled, backupPolicy, placementGroupId, labels, reverseName, ipv6ReverseName',
    )
  const now = deps.clock.now()
  const vm = await lockOwnVm(tx, who, vmId)
  const wanted = { dailyBackup: change.dailyBackupEnabled ?? vm.daily_backup, network10g: change.network10gEnabled ?? vm.network_10g }
  const priceChanges = wanted.dailyBackup !== vm.daily_backup || wanted.network10g !== vm.network_10g
  if (priceChanges && vm.shelved_at !== null)
    throw apiError('invalid_state', 'VM is shelved: its add-ons can be changed when it is unshelved')
  if (priceChanges && PRICED_BY_ACTION.has(vm.status)) await preemptOpenRun(tx, deps, vm)
  if (isSwitchedOn(vm, wanted)) requireBillable(vm, now)
  if (wanted.network10g && !vm.network_10g) await require10gFor(tx, vm)
  const bill = await billForAddOns(tx, now, vm, wanted)
  if (change.labels !== undefined) await requireSelected(tx, now, vm.account_id, vm.id) // as it was: nobody with a budget labels nothing into it
  await sql.updateVm(tx, now, {
    id: vm.id,
    name: change.name ?? vm.name,
    labels: change.labels ?? vm.labels,
    is_protected: change.isProtected ?? vm.is_protected,
    daily_backup: wanted.dailyBackup,
    network_10g: wanted.network10g,
    period_price_cents: bill.periodPriceCents,
    ...bill.paid,
  })
  if (change.backupPolicy !== undefined) await changeBackupPolicy(tx, who, vm, change.backupPolicy)
  if (change.placementGroupId !== undefined) await changeGroup(tx, vm, change.placementGroupId)
  if (wanted.network10g !== vm.network_10g) await notifyResized(tx, deps, vm.id)
  if (change.reverseName !== undefined) await nameAddress(tx, deps, vm, 'IPv4', change.reverseName)
  if (change.ipv6ReverseName !== undefined) await nameAddress(tx, deps, vm, 'IPv6', change.ipv6ReverseName)
  const { currency } = deps.config
  const description = `${bill.names.join(' and ')} of ${vm.name} for the rest of the period`
  const entry = { type: 'ADDON_CHARGE', description, referenceType: 'VM', referenceId: vm.id, currency } as const
  const paid = bill.charge > 0n || dryRun ? await charge(tx, now, vm.account_id, bill.charge, entry) : null
  if (dryRun && paid) {
    const monthly = (await getVmRow(tx, vmId)).renewal_price_cents
    return new DryRunResult(toQuote(tx, currency, { charge: bill.charge, monthly, balanceAfter: paid.balance_after_cents }))
  }
  return getVm(tx, who.accountId, vmId)
}

/** Of its own public address. */
async function nameAddress(
  tx: Tx,
  { config, clock }: Deps,
  vm: sql.VmDetails,
  family: 'IPv4' | 'IPv6',
  name: string | null,
): Promise<void> {
  const address = family === 'IPv4' ? vm.ip_address : vm.ipv6_address
  if (address === null) throw apiError('invalid_state', `This VM has no public ${family} address that could have a reverse name`)
  await setReverseName(tx, config, clock.now(), vm.account_id, address, name)
}

const isSwitchedOn = (vm: sql.VmDetails, { dailyBackup, network10g }: Omit<AddOns, 'publicIpv4'>): boolean =>
  (dailyBackup && !vm.daily_backup) || (network10g && !vm.network_10g)

/** A VM stays on its host, or is being moved to another; one that failed to provision has none yet. */
async function require10gFor(tx: Tx, vm: sql.VmDetails): Promise<void> {
  if (vm.host_id === null) return require10g(tx, await getRegion(tx, vm.region_id))
  if (!has10g(await getHost(tx, vm.host_id)))
    throw apiError('unavailable', 'The host of this VM has no 10G network card: create a new VM with 10G instead')
  const destinationId = await sql.findDestination(tx, vm.id)
  if (destinationId !== undefined && !has10g(await getHost(tx, destinationId)))
    throw apiError('unavailable', 'This VM is being moved to a host that has no 10G network card: create a new VM with 10G instead')
}

/** Only a VM in use needs a paid period: a suspended or unprovisioned one pays for its add-ons with the period that begins later. */
function requireBillable(vm: sql.VmDetails, now: Date): void {
  if (vm.status === 'UNMANAGED')
    throw apiError('invalid_state', 'VM is UNMANAGED, and nothing is charged for it: add-ons can be switched on when it is managed again')
  const isInUse = vm.provisioned && vm.status !== 'SUSPENDED'
  if (isInUse || vm.account_suspended) requirePaidPeriod(vm, now)
}
