// What guests wrote to their serial console while they came up, so that it can be told when one does not. A host's log files cannot be
// read over its protocol, so the console is held open from the start until the guest is ready.
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import type { Domain } from '@berth/libvirt'
import type { HostContext } from '../core/host-context.ts'

const LINES = 50
const MACHINES = 500
const MAX_MS = 15 * 60_000
const MAX_LINE = 1_000

interface Recording {
  lines: string[]
  /** May come before there is anything to end. */
  over: AbortController
}

const recordings = new WeakMap<HostContext, Map<string, Recording>>()

const recordingsOf = (context: HostContext): Map<string, Recording> => {
  const known = recordings.get(context) ?? new Map<string, Recording>()
  recordings.set(context, known)
  return known
}

export const consoleTail = (context: HostContext, vmId: string): string[] => recordingsOf(context).get(vmId)?.lines ?? []

export const stopRecording = (context: HostContext, vmId: string): void => recordingsOf(context).get(vmId)?.over.abort()

/** In the background; whoever takes the console over ends it. Goes on with the lines there are when it was under way already. */
export function recordConsole(context: HostContext, vmId: string, domain: Domain, isFresh: boolean): void {
  const all = recordingsOf(context)
  const before = all.get(vmId)
  if (!isFresh && before && !before.over.signal.aborted) return
  before?.over.abort()
  const recording: Recording = { lines: isFresh ? [] : (before?.lines ?? []), over: new AbortController() }
  all.delete(vmId)
  all.set(vmId, recording)
  if (all.size > MACHINES) all.delete(all.keys().next().value!)
  record(context, domain, recording)
    .catch((error: unknown) => context.log.debug({ hostId: context.hostId, vmId, err: error }, 'the console could not be read along'))
    .finally(() => recording.over.abort())
}

async function record({ host }: HostContext, domain: Domain, { lines, over }: Recording): Promise<void> {
  const terminal = await host.domains.openConsole({ domain })
  const end = (): void => void terminal.destroy()
  const timer = setTimeout(end, MAX_MS)
  over.signal.addEventListener('abort', end)
  if (over.signal.aborted) end()
  const text = new StringDecoder('utf8')
  let rest = ''
  terminal.on('data', (chunk: Buffer) => {
    const heard = (rest + text.write(chunk)).split(/\r*\n/)
    rest = (heard.pop() ?? '').slice(-MAX_LINE)
    keep(lines, heard)
  })
  // Somebody may take the console over: what was heard so far is what there is.
  await new Promise((resolve) => terminal.on('error', () => undefined).once('close', resolve))
  clearTimeout(timer)
  keep(lines, [rest])
}

/** Without colours and cursor movements. */
function keep(kept: string[], lines: string[]): void {
  const readable = lines.map((line) =>
    stripVTControlCharacters(line)
      .replace(/[^\x20-\uFFFD]/g, '')
      .trimEnd(),
  )
  kept.push(...readable.filter((line) => line !== ''))
  kept.splice(0, kept.length - LINES)
}
