// POST /vms/{id}/upgrade: a resize that only grows.
import type { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { type PricedSize, resolveSize } from '../billing/pricing.ts'
import { startAction } from '../model/guards.ts'
import type { VmDetails } from '../model/sql.ts'
import type { ResizeQuote, UpgradeVm } from '../schema.ts'
import { changeSize } from './resize.ts'

export const upgrade = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: UpgradeVm,
  dryRun = false,
): Promise<ActionStarted | DryRunResult<ResizeQuote>> => {
  if (input.planId === undefined && input.customConfig === undefined) throw invalid('planId is required, or customConfig', 'planId')
  return startAction(tx, deps, who, vmId, {
    verb: 'upgrade',
    label: 'UPGRADE',
    find: () => resolveSize(tx, input),
    act: (vm, start, size) => changeSize(tx, deps, vm, start, { size, kind: 'upgrade', requires: requireLarger, dryRun }),
  })
}

function requireLarger(vm: VmDetails, size: PricedSize): void {
  // Traffic and speed of plans are the catalog's; those of a custom configuration were chosen and paid for.
  const isCustom = vm.plan_id === null && size.planId === null
  const chosen = isCustom ? [size.bandwidthGb - vm.bandwidth_gb, size.networkMbps - vm.network_mbps] : []
  const parts = [size.vcpu - vm.vcpu, size.ramMiB - vm.ram_mib, size.diskGiB - vm.disk_gib, ...chosen]
  if (parts.every((each) => each >= 0) && parts.some((each) => each > 0)) return
  if (isCustom)
    throw apiError(
      'plan_not_larger',
      'The custom configuration is not larger than the current one: no part of it may be smaller, bandwidth and networkSpeed included',
    )
  throw apiError(
    'plan_not_larger',
    `Plan ${size.name} is not larger than the current plan ${vm.plan_slug}. Use resize to make the VM smaller`,
  )
}
