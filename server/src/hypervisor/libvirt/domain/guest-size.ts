// Has the guest use vCPUs and memory that were added while it runs. Linux does not by itself, unless its distribution says so: they are brought online through the
// guest agent. A guest that reboots finds the vCPUs by itself, and the memory not.
import type { Domain } from '@berth/libvirt'
import { type ComputeSize, isDriverError } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntilTrue } from '../core/poll.ts'
import { dimmsOf, sizeOf } from '../xml/size-xml.ts'
import { callGuestAgent } from './guest-agent.ts'
import { readDomain } from './lookup.ts'

const MIB = 2 ** 20

const LOOK_INTERVAL_MS = 1_000

/** Has the guest use all of it, and says why it does not when `timeoutMs` is over: its kernel may know of it later, and its agent answer later. Null: it does. */
export async function awaitUse(
  context: HostContext,
  domain: Domain,
  { has, hasDimms, timeoutMs }: { has: ComputeSize; hasDimms: boolean; timeoutMs: number },
  signal: AbortSignal,
): Promise<string | null> {
  const unused: { reason: string | null } = { reason: null }
  const isUsed = async (): Promise<boolean> => {
    unused.reason = await findUnused(context, domain, has, hasDimms, signal)
    return unused.reason === null
  }
  const poll = { timeoutMs, intervalMs: LOOK_INTERVAL_MS }
  await pollUntilTrue(context, `have the guest of ${domain.name} use what it has`, signal, isUsed, poll)
  return unused.reason
}

/** Memory of a guest that has booted. Best effort: what it does not use it has nevertheless. */
export async function bringMemoryOnline(context: HostContext, domain: Domain, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const xml = await readDomain(context, domain, signal)
  if (!xml || dimmsOf(xml).length === 0) return
  const reason = await awaitUse(context, domain, { has: sizeOf(xml), hasDimms: true, timeoutMs }, signal)
  if (reason !== null)
    context.log.warn({ hostId: context.hostId, domain: domain.name, reason }, 'guest that has booted does not use what was added')
}

async function findUnused(
  context: HostContext,
  domain: Domain,
  { vcpu, ramMiB }: ComputeSize,
  hasDimms: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const vcpus = await onlineVcpus(context, domain, signal)
    if (vcpus < vcpu) return `its guest uses ${vcpus} of ${vcpu} vCPUs`
    const usesMiB = hasDimms ? await onlineMemory(context, domain, signal) : ramMiB
    return usesMiB < ramMiB ? `its guest uses ${usesMiB} of ${ramMiB} MiB RAM` : null
  } catch (error) {
    if (isDriverError(error, 'transient', 'invalid_state', 'unsupported')) return 'its guest agent does not answer, or refuses it'
    throw error
  }
}

async function onlineVcpus(context: HostContext, domain: Domain, signal: AbortSignal): Promise<number> {
  const all = (await callGuestAgent(context, domain, { execute: 'guest-get-vcpus' }, signal)) as { 'logical-id': number; online: boolean }[]
  const vcpus = all.filter(({ online }) => !online).map((each) => ({ 'logical-id': each['logical-id'], online: true }))
  if (vcpus.length === 0) return all.length
  return (
    all.length - vcpus.length + Number(await callGuestAgent(context, domain, { execute: 'guest-set-vcpus', arguments: { vcpus } }, signal))
  )
}

async function onlineMemory(context: HostContext, domain: Domain, signal: AbortSignal): Promise<number> {
  const ask = (execute: string, args?: Record<string, unknown>): Promise<unknown> =>
    callGuestAgent(context, domain, { execute, ...(args && { arguments: args }) }, signal)
  const { size } = (await ask('guest-get-memory-block-info')) as { size: number }
  const all = (await ask('guest-get-memory-blocks')) as { 'phys-index': number; online: boolean }[]
  const blocks = all.filter(({ online }) => !online).map((each) => ({ 'phys-index': each['phys-index'], online: true }))
  const answers = blocks.length === 0 ? [] : ((await ask('guest-set-memory-blocks', { 'mem-blks': blocks })) as { response: string }[])
  const refused = answers.filter(({ response }) => response !== 'success').length
  return ((all.length - refused) * size) / MIB
}
