// POST /vms/{id}/rebuild: a new disk, same addresses. A VM that failed to provision is placed and charged again.
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { UserDataPart } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Cents } from '../../../kernel/money.ts'
import { catalogNumbers, getRegion, getTemplateFor, traitsOfPlan, type TemplateRow } from '../../catalog/service.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { findIpv6 } from '../../hosts/ipv6-ranges.ts'
import { poolsFor } from '../../hosts/public-addresses.ts'
import { reserveImageRoom } from '../../hosts/capacity.ts'
import { findMissingGuestType, getHost, guestNeed } from '../../hosts/service.ts'
import { ruleForVm } from '../../placement-groups/service.ts'
import { createPortState, markPortsDirty } from '../../ports/service.ts'
import { forgetKeyUse, keysOf, noteKeyUse, requireKeys } from '../../ssh-keys/service.ts'
import { balanceOf, charge, type Quote, requireFunds, toQuote } from '../../wallet/service.ts'
import { nextRenewal, renewalParts, speedBought } from '../billing/pricing.ts'
import { recordVmEvent } from '../model/events.ts'
import { startAction, type StartRun } from '../model/guards.ts'
import { sealPassword } from '../model/guest-password.ts'
import { allocatePlacement, sizeOf, toIpv6Columns } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { parseUserData } from '../model/user-data-parts.ts'
import { dropUserData, revokeUserData, storeUserData } from '../model/user-data.ts'
import type { RebuildVm } from '../schema.ts'
import { provisionVm, requireFits } from './create.ts'
import { finishOnNewDisk, finishOnOldDisk, type NewDiskInput, replaceDiskWorkflow } from './replace-disk.ts'

export const rebuild = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: RebuildVm,
  dryRun = false,
  plainHash: string | null = null,
): Promise<ActionStarted | DryRunResult<Quote>> => {
  const userData = typeof input.userData === 'string' ? parseUserData(input.userData) : input.userData
  return startAction(tx, deps, who, vmId, {
    verb: 'rebuild',
    label: 'REBUILD',
    find: async (vm) => {
      const template = await getTemplateFor(tx, vm.account_id, input.osTemplateId)
      const keysBefore = (await keysOf(tx, vmId)).map((key) => key.id)
      const keys = await requireKeys(tx, vm.account_id, [...new Set(input.sshKeyIds ?? keysBefore)])
      return { template, keysBefore, keyIds: keys.map((key) => key.id) }
    },
    act: async (vm, start, { template, keysBefore, keyIds }) => {
      const now = deps.clock.now()
      requireFits(template, sizeOf(vm))
      if (vm.provisioned) await requireRuns(tx, vm, template)
      await forgetKeyUse(tx, vmId)
      await noteKeyUse(tx, vmId, keyIds)
      const passwordHash = sealPassword(deps, vmId, plainHash)
      if (!vm.provisioned) {
        await sql.setTemplate(tx, vmId, template.id)
        const started = await provisionAgain(tx, deps, vm, template, { passwordHash, userData }, start)
        if (dryRun) return quoteFor(tx, deps, vm, vm.renewal_price_cents)
        return started
      }

      if (dryRun) return quoteFor(tx, deps, vm, 0n)
      await reserveImageRoom(tx, template, vm)
      if (vm.ipv6_address === null) await addIpv6(tx, now, vm)
      const generation = await sql.nextGeneration(tx, vmId)
      await sql.setStatus(tx, now, vmId, { status: 'REBUILDING' })
      const runId = newId()
      const change = await storeUserData(tx, deps, { vmId, generation, runId }, userData)
      const started = await start(
        rebuildVm,
        {
          vmId,
          statusBefore: vm.status,
          generationBefore: vm.generation,
          generation,
          templateId: template.id,
          passwordHash,
          keysBefore,
          ...change,
        },
        runId,
      )
      await recordVmEvent(tx, deps, vmId, 'vm.rebuilding', started)
      return started
    },
  })
}

/** `charge` is already deducted from the balance. */
async function quoteFor(tx: Tx, { config }: Deps, vm: sql.VmDetails, charge: Cents): Promise<DryRunResult<Quote>> {
  const balanceAfter = await balanceOf(tx, vm.account_id)
  return new DryRunResult(toQuote(tx, config.currency, { charge, monthly: vm.renewal_price_cents, balanceAfter }))
}

/** A rebuild stays on the VM's host, whose architecture may not support the new image. */
async function requireRuns(tx: Tx, vm: sql.VmDetails, template: TemplateRow): Promise<void> {
  const host = await getHost(tx, vm.host_id!)
  const type = findMissingGuestType(host, guestNeed(template))
  if (type === template.arch)
    throw apiError('incompatible', `OS template ${template.name} is for ${template.arch}, but this VM runs on ${host.arch}: choose another`)
  if (type !== undefined)
    throw apiError('incompatible', `OS template ${template.name} needs ${type}, which the host of this VM does not have: choose another`)
}

/** For a VM from before its host had a pool of IPv6: only a new guest is told of the address. None where the pool is full. */
async function addIpv6(tx: Tx, now: Date, vm: sql.VmDetails): Promise<void> {
  const ipv6 = await findIpv6(tx, now, await poolsFor(tx, await getHost(tx, vm.host_id!)))
  if (!ipv6) return
  await sql.setIpv6(tx, now, vm.id, toIpv6Columns(ipv6))
  await markPortsDirty(tx, [vm.id])
}

async function provisionAgain(
  tx: Tx,
  deps: Deps,
  vm: sql.VmDetails,
  template: TemplateRow,
  { passwordHash, userData }: { passwordHash: string | null; userData: UserDataPart[] | null | undefined },
  start: StartRun,
): Promise<ActionStarted> {
  const now = deps.clock.now()
  const { currency } = deps.config
  const price = vm.renewal_price_cents
  await requireFunds(tx, now, vm.account_id, price, currency)
  const numbers = await catalogNumbers(tx)
  const boughtMbps = speedBought(numbers, { planId: vm.plan_id, networkMbps: vm.network_mbps })
  const where = {
    storage: vm.storage,
    ...guestNeed(template),
    traits: await traitsOfPlan(tx, vm.plan_id),
    network10g: vm.network_10g,
    boughtMbps,
    publicIpv4: vm.public_ipv4,
    rule: await ruleForVm(tx, vm.id),
  }
  const place = await allocatePlacement(tx, now, await getRegion(tx, vm.region_id), sizeOf(vm), where)
  await reserveImageRoom(tx, template, place)
  await sql.assignPlacement(tx, now, vm.id, { ...place, period_price_cents: price, next_renewal_at: nextRenewal(now, now.getUTCDate()) })
  await createPortState(tx, vm.id, place.host_id, vm.account_id)
  await sql.setStatus(tx, now, vm.id, { status: 'PROVISIONING', desiredRunning: true })
  const runId = newId()
  const { generation } = await getVmRow(tx, vm.id)
  if (userData === null) await dropUserData(tx, vm.id)
  const change = await storeUserData(tx, deps, { vmId: vm.id, generation, runId }, userData ?? undefined)
  const started = await start(provisionVm, { vmId: vm.id, chargedCents: price.toString(), passwordHash, ...change }, runId)
  await recordVmEvent(tx, deps, vm.id, 'vm.provisioning', started)
  await charge(tx, now, vm.account_id, price, {
    type: 'VM_CHARGE',
    description: `First month of ${vm.name}`,
    referenceType: 'VM',
    referenceId: vm.id,
    ...renewalParts(numbers, vm),
    currency,
  })
  return started
}

interface RebuildInput extends NewDiskInput {
  keysBefore: string[]
}

export const rebuildVm = replaceDiskWorkflow<RebuildInput>('vm.rebuild', { source: () => ({ from: 'template' }) })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    await finishOnNewDisk(tx, now, input, results.ready)
    await recordVmEvent(tx, deps, input.vmId, 'vm.rebuilt', { actionId: runId })
    await recordVmEvent(tx, deps, input.vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input, error, runId, now, cleanupFailed }) => {
    const reason = `The rebuild failed and the old disk was kept: ${error?.userMessage ?? 'it was cancelled'}`
    await finishOnOldDisk(tx, now, input, { reason, cleanupFailed })
    if (input.hasUserData !== undefined) await revokeUserData(tx, input.vmId, runId)
    await forgetKeyUse(tx, input.vmId)
    await noteKeyUse(tx, input.vmId, input.keysBefore)
    await recordVmEvent(tx, deps, input.vmId, 'vm.rebuild_failed', { actionId: runId, reason })
  })
