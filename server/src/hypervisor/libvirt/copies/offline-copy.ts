// A copy of a VM that is off, by a backup job of its reader domain (domain/reader-domain.ts).
import type { Domain } from '@berth/libvirt'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'
import type { MachineState } from '../domain/lookup.ts'
import { destroyReader, findReader, tryOpenReader } from '../domain/reader-domain.ts'
import { waitUntilComplete } from '../storage/volumes.ts'
import { type CopyRequest, hasJob } from './backup-job.ts'
import { runPushBackup } from './live-copy.ts'

/** A reader domain that was seen this many times in a row without a job, some seconds apart, has no process behind it. */
const MAX_IDLE_CHECKS = 10

/** Resolves also when another process has completed the copy. A disk has one reader domain. libvirtd destroys it when its process
 *  disconnects; one whose daemon was killed stays, and is destroyed here once it is idle. */
export async function copyOffline(context: HostContext, request: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  for (let idleChecks = 0; ;) {
    const reader = await tryOpenReader(context, request.vmId, machine.xml, signal)
    if (reader) return copyWithReader(reader, context, request, machine, signal)
    if (await waitUntilComplete(context, request.name, signal)) return
    const found = await findReader(context, request.vmId, signal)
    idleChecks = found && !(await hasJob(context, found, signal)) ? idleChecks + 1 : 0
    if (found && idleChecks >= MAX_IDLE_CHECKS) await destroyReader(context, found, signal)
  }
}

async function copyWithReader(
  reader: Domain,
  context: HostContext,
  request: CopyRequest,
  machine: MachineState,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runPushBackup(context, request, { ...machine, domain: reader, isOn: true }, signal)
  } finally {
    await destroyReader(context, reader, AbortSignal.timeout(CLEANUP_TIMEOUT_MS)).catch((error: unknown) =>
      context.log.warn({ hostId: context.hostId, domain: reader.name, err: error }, 'destroying reader domain failed'),
    )
  }
}
