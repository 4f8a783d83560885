// Nothing of a suspended account stays on: a VM that was busy when its account was suspended, or has come up since, is suspended as soon
// as nothing works on it any more.
import { subtractDuration } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { reconciler, type Deps } from '../deps.ts'
import { suspend } from './power.ts'
import { lockVm } from './sql.ts'
import { vmsToSuspend } from './sweep-sql.ts'

/** Between two attempts: short, because it runs on meanwhile. */
const RETRY = '2m'

export const enforceSuspension = reconciler('vms.left_on', '30s', async (deps) => {
  for (const { id } of await vmsToSuspend(deps.db, subtractDuration(deps.clock.now(), RETRY))) {
    await switchOff(deps, id).catch((error: unknown) => {
      if (error instanceof ApiError) deps.log.info({ vmId: id, code: error.code }, `suspension put off: ${error.message}`)
      else deps.log.error({ err: error, vmId: id }, 'a VM of a suspended account could not be suspended: it is tried again')
    })
  }
})

/** The suspension may have been lifted meanwhile. */
const switchOff = (deps: Deps, id: string): Promise<void> =>
  deps.db.tx(async (tx) => {
    const vm = await lockVm(tx, id)
    if (vm?.account_suspended) await suspend(tx, deps, { accountId: vm.account_id }, id)
  })
