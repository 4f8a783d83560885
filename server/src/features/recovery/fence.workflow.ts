// Fences a host. Nothing of it is started elsewhere before this has succeeded, and nothing is undone when it fails: what is blocked stays so.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { type Deps, workflow } from '../deps.ts'
import { getHost, markFenced } from '../hosts/service.ts'
import { fence, findBlocks } from './fencing.ts'
import * as sql from './fences.sql.ts'

export const LOST_HOSTS = 'recovery.lost_hosts'
const TRY_AGAIN = '30s'

/** Not `hostId`: runs that need a host that is lost are ended. */
interface Input {
  fencedHostId: string
  /** Since when it was unreachable; older runs have none. */
  since?: string
}

export const fenceHost = workflow<Input>('host.fence', { deadline: '10m' })
  // Kept before anything is blocked, so that everything that was blocked is unblocked when the host returns.
  .step('look', {
    run: async ({ deps, input, signal }) => findBlocks(deps, await getHost(deps.db, input.fencedHostId), signal),
    save: async (tx, { input, results }) => {
      for (const { storageId, clients } of results.look) await sql.recordBlocks(tx, input.fencedHostId, storageId, clients)
    },
  })
  .step('fence', {
    tries: 3,
    run: async ({ deps, input, results, signal }) => {
      const { means, problems } = await fence(deps, input.fencedHostId, results.look, signal)
      if (means.length === 0) throw new StepError('unfenced', problems.join('; ') || 'There is no way to fence it', { retry: true })
      return { means, problems }
    },
  })
  .onSuccess(async (tx, { input: { fencedHostId: hostId, since }, results, now }) => {
    const isSame = (await getHost(tx, hostId)).unreachable_since?.toISOString() === since
    await markFenced(tx, hostId, now)
    await sql.setMeans(tx, hostId, isSame ? results.fence.means : []) // what it has started meanwhile is not known
    await triggerReconciler(tx, LOST_HOSTS)
  })
  .onFailure(async (tx, { deps, input: { fencedHostId: hostId }, error, now }) => {
    const reason = error?.userMessage ?? 'it was cancelled'
    deps.log.error({ hostId, reason }, 'fencing host failed; nothing of it is started elsewhere')
    await sql.setError(tx, hostId, reason, addDuration(now, TRY_AGAIN))
  })

/** Undefined where it is under way, or the host answers again. */
export async function startFence(tx: Tx, { workflows }: Pick<Deps, 'workflows'>, hostId: string): Promise<string | undefined> {
  if (await openRunOf(tx, hostId)) return undefined
  const since = (await getHost(tx, hostId)).unreachable_since?.toISOString()
  if (since === undefined) return undefined
  return workflows.start(tx, fenceHost, { fencedHostId: hostId, since }, { label: 'FENCE', subjectId: hostId })
}
