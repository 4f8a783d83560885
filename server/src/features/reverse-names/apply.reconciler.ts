// Tells the name server what addresses are called. A row is claimed before the call, so that an older name is never set after a newer one.
import { addDuration } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { powerDns, ReverseDnsError } from './powerdns.ts'
import { APPLY_REVERSE_NAMES, claimPending, recordFailed, recordSet } from './service.ts'

/** Longer than the calls of one change take. */
const CLAIM = '30s'
const RETRY = '60s'

export const applyReverseNames = reconciler(
  APPLY_REVERSE_NAMES,
  '15s',
  async (deps: Deps, stopping: AbortSignal = new AbortController().signal) => {
    const { db, clock, log, config } = deps
    const server = powerDns(config)
    if (!server) return
    while (!stopping.aborted) {
      const pending = await claimPending(db, clock.now(), addDuration(clock.now(), CLAIM))
      if (!pending) return
      try {
        await server.set(pending.address, pending.name, stopping)
        await recordSet(db, pending)
      } catch (error) {
        if (!(error instanceof ReverseDnsError)) throw error
        log.warn({ err: error, address: pending.address }, 'setting reverse name failed; will retry')
        await recordFailed(db, pending, error.userMessage, addDuration(clock.now(), RETRY))
      }
    }
  },
)
