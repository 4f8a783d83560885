// One action for many VMs, in one transaction: what the refusal of one undoes is of that VM alone.
import { DryRunResult } from '../../http/api/api.ts'
import { requireRecentPassword } from '../../http/api/mount.ts'
import type { Principal } from '../../http/api/principal.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError, apiError, invalid, notFound } from '../../kernel/errors.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import type { ActionStarted } from '../actions/schema.ts'
import type { Deps } from '../deps.ts'
import { createSnapshot } from '../snapshots/service.ts'
import { lockSelectedVms, remove, restart, start, stop } from '../vms/service.ts'
import { balanceOf, type Quote, toShownBalance } from '../wallet/service.ts'
import { type BulkAction, type BulkActionQuote, type BulkActionStarted, MAX_VMS, type StartBulkAction } from './schema.ts'

const SCOPES: Record<BulkAction, string> = {
  START: 'vms:power',
  STOP: 'vms:power',
  RESTART: 'vms:power',
  DELETE: 'vms:delete',
  SNAPSHOT: 'snapshots:create',
}

type Begun = ActionStarted | DryRunResult<Quote>

export async function startBulkAction(
  tx: Tx,
  deps: Deps,
  who: Principal,
  input: StartBulkAction,
  dryRun = false,
): Promise<BulkActionStarted | DryRunResult<BulkActionQuote>> {
  const { action } = input
  if (!who.scopes.has(SCOPES[action])) throw apiError('missing_scope', `This token lacks the required scope: ${SCOPES[action]}`)
  if (action === 'DELETE' && !dryRun) requireRecentPassword(who, deps.clock.now())
  requireFields(input)
  const { vms, missing } = await lockChosen(tx, who.accountId, input)
  const results: (Attempt & { vmId: string; vmName: string })[] = missing.map((vmId) => ({ vmId, vmName: '', ...refusal(notFound('VM')) }))
  for (const { id, name } of vms)
    results.push({ vmId: id, vmName: name, ...(await attempt(tx, () => begin(tx, deps, who, id, input, dryRun))) })
  results.sort((a, b) => a.vmName.localeCompare(b.vmName) || a.vmId.localeCompare(b.vmId))
  const refused = results.filter(({ error }) => error !== null).length
  const counts = { started: results.length - refused, refused }
  if (!dryRun)
    return {
      vms: results.map(({ begun, ...vm }) => ({ ...vm, actionId: begun instanceof DryRunResult ? null : (begun?.actionId ?? null) })),
      ...counts,
    }
  const charges = results.map(({ begun }) => (begun instanceof DryRunResult ? parseCents(begun.preview.charge) : 0n))
  const charge = charges.reduce((sum, each) => sum + each, 0n)
  return new DryRunResult({
    vms: results.map(({ begun: _, ...vm }, i) => ({ ...vm, charge: vm.error === null ? formatCents(charges[i]!) : null })),
    ...counts,
    charge: formatCents(charge),
    currency: deps.config.currency,
    balanceAfter: toShownBalance(tx, (await balanceOf(tx, who.accountId)) - charge),
  })
}

/** Ids of other accounts are as unknown as those of nobody. */
async function lockChosen(tx: Tx, accountId: string, { labelSelector, vmIds }: StartBulkAction) {
  const selection = vmIds ? { ids: vmIds } : { labelSelector: labelSelector! }
  const vms = await lockSelectedVms(tx, accountId, selection, MAX_VMS + 1)
  if (vms.length > MAX_VMS)
    throw apiError('quota_exceeded', `labelSelector selects more than ${MAX_VMS} VMs: give it more conditions, and ask once for each part`)
  const known = new Set(vms.map(({ id }) => id))
  return { vms, missing: (vmIds ?? []).filter((id) => !known.has(id)) }
}

function requireFields({ labelSelector, vmIds, action, force, name }: StartBulkAction): void {
  if (labelSelector === undefined && vmIds === undefined) throw invalid('labelSelector or vmIds is required', 'labelSelector')
  if (labelSelector !== undefined && vmIds !== undefined) throw invalid('give either labelSelector or vmIds, not both', 'vmIds')
  if (action === 'SNAPSHOT' && name === undefined) throw invalid('name is required for SNAPSHOT', 'name')
  if (action !== 'SNAPSHOT' && name !== undefined) throw invalid('name is only for SNAPSHOT', 'name')
  if (force !== undefined && action !== 'STOP' && action !== 'RESTART') throw invalid('force is only for STOP and RESTART', 'force')
}

/** A dry run begins it too, where that costs nothing: everything is rolled back in the end. */
function begin(
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  { action, force, name }: StartBulkAction,
  dryRun: boolean,
): Promise<Begun> {
  if (action === 'START') return start(tx, deps, who, vmId)
  if (action === 'STOP') return stop(tx, deps, who, vmId, force)
  if (action === 'RESTART') return restart(tx, deps, who, vmId, force)
  if (action === 'DELETE') return remove(tx, deps, who, vmId, dryRun)
  return createSnapshot(tx, deps, who, vmId, { name: name! }, dryRun)
}

interface Attempt {
  begun: Begun | null
  errorCode: string | null
  error: string | null
}

async function attempt(tx: Tx, work: () => Promise<Begun>): Promise<Attempt> {
  try {
    return { begun: await tx.attempt(work), errorCode: null, error: null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return refusal(error)
  }
}

const refusal = ({ code, message }: ApiError): Attempt => ({ begun: null, errorCode: code, error: message })
