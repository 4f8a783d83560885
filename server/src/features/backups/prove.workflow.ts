// Proves that a backup can be restored: a guest of its own gets the disk, without any interface, and must boot. It is no VM: no address, no
// quota, no charge, no list shows it. Its room is booked in `backup_proofs` until nothing of it is left. What is found out about the backup is
// the result of the run, also where that is bad; the run itself fails where it could not be found out.
import type { MachineSpec } from '../../hypervisor/driver.ts'
import { isDriverError } from '../../hypervisor/driver.ts'
import { shrinkPng } from '../../hypervisor/shrink-png.ts'
import { storeAsBackup } from '../../hypervisor/store-as-backup.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { stepsOf } from '../../workflow/run-store.ts'
import { StepError, type EndContext, type StepContext } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { cpuSetOf } from '../hosts/service.ts'
import { lockVmById, recordVmEvent, templateRef } from '../vms/service.ts'
import { damageOf } from './damage.ts'
import * as proofs from './proofs.ts'
import { chainOf, findById } from './sql.ts'
import { readFromTarget } from './target.ts'
import { readFromHost } from './transfer.ts'
import { toBackup } from './view.ts'

export interface ProofInput {
  /** Of the machine on the host. */
  proofId: string
  uuid: string
  backupId: string
  vmId: string
  accountId: string
  hostId: string
  templateId: string
  hostname: string
  user: string
  vcpu: number
  ramMiB: number
  diskGiB: number
}

type Context = StepContext<Deps, ProofInput, unknown>
type Found = { failure: string } | { failure?: undefined }
type Seen = { verification: 'BOOTED' | 'RUNNING' } | { verification: 'FAILED'; failure: string }

/** A guest takes minutes to boot where its CPU is emulated. */
const AGENT_TIMEOUT_MS = 600_000
const SCREENSHOT_MS = 30_000
/** Customers' disks come first. */
const DISK_LIMITS = { iops: 1_000, miBPerSecond: 100 }

export const proveBackup = workflow<ProofInput>('backup.prove', {
  deadline: '6h',
  queue: 'bulk',
  locks: (tx, { vmId }) => lockVmById(tx, vmId),
})
  .step('fetch', { timeout: '2h', run: fetchBackup, undo: purgeProof })
  .step('disk', { timeout: '2h', run: unlessFailed(makeDisk), undo: purgeProof })
  .step('boot', { run: unlessFailed(boot), undo: purgeProof })
  .step('agent', { timeout: '12m', run: lookAtGuest, undo: purgeProof })
  .step('purge', { timeout: '5m', tries: 20, run: purgeProof, undo: purgeProof })
  .onSuccess(settle)
  .onFailure(settle)

const driverOf = ({ deps, input }: Context) => deps.hypervisors.get(input.hostId)

async function fetchBackup(context: Context): Promise<Found> {
  const { deps, input, signal, tries } = context
  const chain = await chainOf(deps.db, input.backupId)
  const backup = chain.at(-1)
  if (!backup) throw new StepError('backup_gone', 'The backup was deleted meanwhile.', { retry: false })
  const open = () => (backup.target_id === null ? readFromHost(deps, chain, signal) : readFromTarget(deps, backup, signal))
  const place = { vmId: input.proofId, backupId: backup.id, storageId: null }
  try {
    await storeAsBackup(await driverOf(context), place, open, signal)
    return {}
  } catch (error) {
    const failure = damageOf(error, tries)
    if (failure === null) throw error
    deps.log.error({ err: error, backupId: backup.id, vmId: input.vmId }, 'backup cannot be read; it is marked')
    return { failure }
  }
}

function unlessFailed(run: (context: Context) => Promise<void>) {
  return async (context: StepContext<Deps, ProofInput, { fetch: Found }>): Promise<void> => {
    if (context.results.fetch.failure === undefined) await run(context)
  }
}

async function makeDisk(context: Context): Promise<void> {
  const { input, signal } = context
  const driver = await driverOf(context)
  await driver.ensureDisk(await specOf(context), { from: 'backup', backupId: input.backupId }, signal)
  await driver.ensureBackupOffloaded(input.proofId, { backupId: input.backupId, keepCheckpoint: false }, signal)
}

async function boot(context: Context): Promise<void> {
  await (await driverOf(context)).ensureRunning(await specOf(context), context.signal)
}

/** The guest finds the seed of its VM, so it boots as after a restore, and not as a new one. */
async function specOf({ deps, input }: Context): Promise<MachineSpec> {
  const { proofId, uuid, accountId, vcpu, ramMiB, diskGiB, templateId, vmId, hostname, user } = input
  return {
    vmId: proofId,
    uuid,
    accountId,
    generation: 1,
    vcpu,
    cpus: await cpuSetOf(deps.db, input.hostId, proofId, false),
    ramMiB,
    diskGiB,
    diskLimits: DISK_LIMITS,
    storageId: null,
    template: await templateRef(deps.db, templateId),
    seed: { instanceId: vmId, hostname, user, sshKeys: [], passwordHash: null },
    nics: [],
    volumes: [],
  }
}

/** Its owner may have removed the agent, or installed one: only a guest that goes off has failed. */
async function lookAtGuest(context: StepContext<Deps, ProofInput, { fetch: Found }>): Promise<Seen> {
  const { input, signal, results } = context
  if (results.fetch.failure !== undefined) return { verification: 'FAILED', failure: results.fetch.failure }
  const driver = await driverOf(context)
  const isReady = await driver.ensureReady(input.proofId, { timeoutMs: AGENT_TIMEOUT_MS, evenWithoutAgent: true }, signal).then(
    () => true,
    (error: unknown) => {
      if (isDriverError(error, 'guest_failed')) return false
      throw error
    },
  )
  if (!isReady) {
    const machine = await driver.findMachine(input.proofId, signal)
    if (machine?.power === 'paused') throw new StepError('paused', 'The host ran out of disk space meanwhile.', { retry: false })
    if (machine?.power !== 'running') return { verification: 'FAILED', failure: 'It was restored, but its guest went off while it booted.' }
  }
  await keepScreenshot(context)
  return { verification: isReady ? 'BOOTED' : 'RUNNING' }
}

/** A picture more or less decides nothing. */
async function keepScreenshot(context: Context): Promise<void> {
  const { deps, input, signal } = context
  try {
    const png = await (await driverOf(context)).screenshot(input.proofId, AbortSignal.any([signal, AbortSignal.timeout(SCREENSHOT_MS)]))
    const small = shrinkPng(png)
    if (small) await proofs.storeScreenshot(deps.db, deps.clock.now(), input.backupId, small)
  } catch (error) {
    deps.log.warn({ err: error, backupId: input.backupId }, 'taking screenshot of proof failed; there is none')
  }
}

async function purgeProof(context: Context): Promise<void> {
  await (await driverOf(context)).ensurePurged(context.input.proofId, context.signal)
}

/** What was found out counts also where the guest could not be removed: the reconciler goes on with that. */
async function settle(tx: Tx, context: EndContext<Deps, ProofInput, { agent?: Seen }>): Promise<void> {
  const { deps, input, results, now, cleanupFailed, runId } = context
  const verdict = results.agent && (await verdictOf(tx, runId, results.agent))
  const recorded = verdict && (await proofs.recordVerdict(tx, now, input.backupId, verdict))
  const nextAt = recorded ? proofs.whenNext(now, verdict, recorded.had_failed) : proofs.retryAt(now)
  await proofs.postpone(tx, input.vmId, nextAt)
  if (!cleanupFailed) await proofs.endProof(tx, input.proofId)
  if (!recorded) return
  const backup = toBackup((await findById(tx, input.backupId))!)
  const detail = { actionId: runId, ...(verdict.reason !== null && { reason: verdict.reason }) }
  await recordVmEvent(tx, deps, input.vmId, verdict.verification === 'FAILED' ? 'backup.verification_failed' : 'backup.verified', detail, {
    backup,
  })
}

/** Times are those of the journal: with every wait and repetition, so they are never too good. */
async function verdictOf(tx: Tx, runId: string, seen: Seen): Promise<proofs.Verdict> {
  const steps = new Map((await stepsOf(tx, [runId])).map((step) => [step.name, step]))
  const seconds = (first: string, last: string): number =>
    Math.max(0, steps.get(last)!.completed_at!.getTime() - steps.get(first)!.started_at!.getTime()) / 1000
  if (seen.verification === 'FAILED') return { verification: 'FAILED', reason: seen.failure, restoreSeconds: null, bootSeconds: null }
  const bootSeconds = seen.verification === 'BOOTED' ? seconds('boot', 'agent') : null
  return { verification: seen.verification, reason: null, restoreSeconds: seconds('fetch', 'disk'), bootSeconds }
}
