// Asks guests with user data what came of it: cloud-init goes on for minutes or hours after they have booted. Nothing waits for a guest meanwhile.
import { DriverError, type Initialization } from '../../../hypervisor/driver.ts'
import { addDuration } from '../../../kernel/clock.ts'
import type { ActionInitialization } from '../../actions/schema.ts'
import { reconciler, type Deps } from '../../deps.ts'
import { recordVmEvent } from '../model/events.ts'
import { askGuests, GUEST_TIMEOUT_MS, nextTry } from '../model/guest-turns.ts'
import { driverForVm } from '../model/machine-spec.ts'
import { isPlaced } from '../model/ports.ts'
import { lockVmById, vmById } from '../model/sql.ts'
import { dueInitializations, recordEnd, recordRunning, type DueInitialization } from '../model/user-data.ts'

/** What has not ended by then, while its VM runs, never says. */
const PATIENCE = '24h'

export const askInitializations = reconciler('vms.initializations', '5s', (deps: Deps, stopping) => {
  const due = async () => {
    const rows = await dueInitializations(deps.db, deps.clock.now())
    return rows.map((row) => ({ vmId: row.vm_id, payerId: row.payer_id, isSilent: row.is_silent, row }))
  }
  return askGuests(due, ({ row }) => settle(deps, row), stopping)
})

/** Resolves to false where it stays due. */
async function settle(deps: Deps, due: DueInitialization): Promise<boolean> {
  const { db, clock, log } = deps
  try {
    const answer = await ask(deps, due)
    const end = toEnd(answer, due, clock.now())
    await db.tx(async (tx) => {
      if (!(await lockVmById(tx, due.vm_id))) return
      if (!end) return recordRunning(tx, due, nextTry(clock.now(), due.wanted_at), answer !== undefined)
      if (await recordEnd(tx, due, end)) await tell(deps, tx, due, end)
    })
    return true
  } catch (error) {
    log.warn({ err: error, vmId: due.vm_id }, 'asking guest for its initialization failed; will retry')
    return false
  }
}

/** Undefined: it did not answer. */
async function ask(deps: Deps, { vm_id }: DueInitialization): Promise<Initialization | undefined> {
  const vm = await vmById(deps.db, vm_id)
  if (!vm || !isPlaced(vm)) return undefined
  try {
    const driver = await driverForVm(deps, vm)
    return await driver.readInitialization(vm_id, AbortSignal.timeout(GUEST_TIMEOUT_MS))
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    if (error.kind === 'unsupported') return { state: 'none', seconds: null, errors: [], output: '' }
    deps.log.info({ err: error, vmId: vm_id }, 'guest did not tell its initialization; will retry')
    return undefined
  }
}

function toEnd(answer: Initialization | undefined, due: DueInitialization, now: Date): ActionInitialization | undefined {
  if (answer?.state === 'none')
    return {
      status: 'UNSUPPORTED',
      seconds: null,
      errors: ['The image has no cloud-init, or no guest agent that could be asked'],
      output: null,
    }
  if (answer && answer.state !== 'running') {
    const { state, seconds, errors, output } = answer
    return { status: state === 'failed' ? 'FAILED' : 'COMPLETED', seconds, errors, output }
  }
  if (now < addDuration(due.wanted_at, PATIENCE)) return undefined
  const reason = answer ? 'cloud-init did not end within 24 hours' : 'The guest did not say within 24 hours what came of it'
  return { status: 'UNKNOWN', seconds: null, errors: [reason], output: null }
}

async function tell(deps: Deps, tx: Parameters<typeof recordVmEvent>[0], due: DueInitialization, end: ActionInitialization): Promise<void> {
  const { output: _output, ...initialization } = end
  const type = end.status === 'COMPLETED' ? 'vm.initialized' : 'vm.initialization_failed'
  const reason = end.errors[0]
  await recordVmEvent(tx, deps, due.vm_id, type, { actionId: due.run_id, ...(reason !== undefined && { reason }) }, { initialization })
}
