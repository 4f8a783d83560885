import type { Tx } from '../../../kernel/database/db.ts'
import { catalogNumbers, traitsOfPlan, type TemplateRow } from '../../catalog/service.ts'
import { guestNeed } from '../../hosts/service.ts'
import { ruleForVm } from '../../placement-groups/service.ts'
import { speedBought } from '../billing/pricing.ts'
import type { VmRow } from '../model/sql.ts'

/** What a VM that has lost its host asks of the next: a slower one is better than none. */
export const wishesOf = async (tx: Tx, vm: VmRow, template: TemplateRow) => ({
  ...guestNeed(template),
  traits: await traitsOfPlan(tx, vm.plan_id),
  network10g: vm.network_10g,
  boughtMbps: speedBought(await catalogNumbers(tx), { planId: vm.plan_id, networkMbps: vm.network_mbps }),
  isSpeedOptional: true,
  publicIpv4: vm.public_ipv4,
  rule: await ruleForVm(tx, vm.id),
})
