// Records the serial console of booting guests, for the error of one that does not boot. libvirt's protocol does not expose log files, so the
// console stays open from the start until the guest is ready.
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import type { Domain } from '@berth/libvirt'
import type { ConsoleRecording, HostContext } from '../core/host-context.ts'

const LINES = 50
const MACHINES = 500
const MAX_MS = 15 * 60_000
const MAX_LINE = 1_000

export const consoleTail = ({ cache }: HostContext, vmId: string): string[] => cache.recordings.get(vmId)?.lines ?? []

export const stopRecording = ({ cache }: HostContext, vmId: string): void => cache.recordings.get(vmId)?.stop.abort()

/** Records in the background, until a console session takes the console over. An earlier recording of the same boot is continued. */
export function recordConsole(context: HostContext, vmId: string, domain: Domain, isFresh: boolean): void {
  const all = context.cache.recordings
  const before = all.get(vmId)
  if (!isFresh && before && !before.stop.signal.aborted) return
  before?.stop.abort()
  const recording: ConsoleRecording = { lines: isFresh ? [] : (before?.lines ?? []), stop: new AbortController() }
  all.delete(vmId)
  all.set(vmId, recording)
  if (all.size > MACHINES) all.delete(all.keys().next().value!)
  record(context, domain, recording)
    .catch((error: unknown) => context.log.debug({ hostId: context.hostId, vmId, err: error }, 'recording serial console failed'))
    .finally(() => recording.stop.abort())
}

async function record({ host }: HostContext, domain: Domain, { lines, stop }: ConsoleRecording): Promise<void> {
  const terminal = await host.domains.openConsole({ domain })
  const end = (): void => void terminal.destroy()
  const timer = setTimeout(end, MAX_MS)
  stop.signal.addEventListener('abort', end)
  if (stop.signal.aborted) end()
  const text = new StringDecoder('utf8')
  let rest = ''
  terminal.on('data', (chunk: Buffer) => {
    const received = (rest + text.write(chunk)).split(/\r*\n/)
    rest = (received.pop() ?? '').slice(-MAX_LINE)
    keep(lines, received)
  })
  // A console session that takes over closes this stream; the lines so far are kept.
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
