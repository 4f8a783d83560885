// Has the guest use vCPUs and memory that were added while it runs. Linux does not by itself, unless its distribution says so: they are brought online through the
// guest agent. A guest that reboots finds the vCPUs by itself, and the memory not.
import type { Domain } from '@berth/libvirt'
import { Type } from 'typebox'
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
    // Whatever else a guest does, it has what it pays for.
    if (isDriverError(error, 'aborted', 'unreachable', 'unknown_outcome', 'not_found')) throw error
    return 'its guest agent does not answer, or refuses it'
  }
}

const MAX_UNITS = 2 ** 14
const Vcpu = Type.Object({ 'logical-id': Type.Integer({ minimum: 0 }), online: Type.Boolean() })
const Vcpus = Type.Array(Vcpu, { maxItems: MAX_UNITS })
const BlockInfo = Type.Object({ size: Type.Integer({ minimum: 1 }) })
const Block = Type.Object({ 'phys-index': Type.Integer({ minimum: 0 }), online: Type.Boolean() })
const Blocks = Type.Array(Block, { maxItems: MAX_UNITS })
const Responses = Type.Array(Type.Object({ response: Type.String() }), { maxItems: MAX_UNITS })

async function onlineVcpus(context: HostContext, domain: Domain, signal: AbortSignal): Promise<number> {
  const all = await callGuestAgent(context, domain, { execute: 'guest-get-vcpus' }, Vcpus, signal)
  const vcpus = all.filter(({ online }) => !online).map((each) => ({ 'logical-id': each['logical-id'], online: true }))
  if (vcpus.length === 0) return all.length
  const done = await callGuestAgent(context, domain, { execute: 'guest-set-vcpus', arguments: { vcpus } }, Type.Integer(), signal)
  return all.length - vcpus.length + done
}

async function onlineMemory(context: HostContext, domain: Domain, signal: AbortSignal): Promise<number> {
  const { size } = await callGuestAgent(context, domain, { execute: 'guest-get-memory-block-info' }, BlockInfo, signal)
  const all = await callGuestAgent(context, domain, { execute: 'guest-get-memory-blocks' }, Blocks, signal)
  const blocks = all.filter(({ online }) => !online).map((each) => ({ 'phys-index': each['phys-index'], online: true }))
  if (blocks.length === 0) return (all.length * size) / MIB
  const order = { execute: 'guest-set-memory-blocks', arguments: { 'mem-blks': blocks } }
  const answers = await callGuestAgent(context, domain, order, Responses, signal)
  const refused = answers.filter(({ response }) => response !== 'success').length
  return ((all.length - refused) * size) / MIB
}
