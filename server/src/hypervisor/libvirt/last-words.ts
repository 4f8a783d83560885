// What guests wrote to their serial console while they came up, so that it can be told when one does not. A host's log files cannot be
// read over its protocol, so the console is held open from the start until the guest is ready.
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import type { Domain } from '@berth/libvirt'
import { orMissing } from './errors.ts'
import type { Session } from './session.ts'

const LINES = 50
const MACHINES = 500
const LONGEST_MS = 15 * 60_000

interface Recording {
  lines: string[]
  end: () => void
  isOpen: boolean
}

const recordings = new WeakMap<Session, Map<string, Recording>>()

const recordingsOf = (session: Session): Map<string, Recording> => {
  const known = recordings.get(session) ?? new Map<string, Recording>()
  recordings.set(session, known)
  return known
}

export const lastWords = (session: Session, vmId: string): string[] => recordingsOf(session).get(vmId)?.lines ?? []

export const endRecording = (session: Session, vmId: string): void => recordingsOf(session).get(vmId)?.end()

/** In the background; whoever takes the console over ends it. Goes on with the lines there are when it was under way already. */
export function recordConsole(session: Session, vmId: string, domain: Domain, isFresh: boolean): void {
  const all = recordingsOf(session)
  const before = all.get(vmId)
  if (!isFresh && before?.isOpen) return
  before?.end()
  const recording: Recording = { lines: isFresh ? [] : (before?.lines ?? []), end: () => undefined, isOpen: true }
  all.delete(vmId)
  all.set(vmId, recording)
  if (all.size > MACHINES) all.delete(all.keys().next().value!)
  void record(session, domain, recording).catch((error: unknown) =>
    session.log.debug({ hostId: session.hostId, vmId, err: error }, 'the console could not be read along'),
  )
}

async function record({ host }: Session, domain: Domain, recording: Recording): Promise<void> {
  const terminal = await orMissing(host.domains.openConsole({ domain }))
  if (!terminal) return
  const text = new StringDecoder('utf8')
  let rest = ''
  const timer = setTimeout(() => terminal.destroy(), LONGEST_MS)
  terminal.on('error', () => undefined) // ended from elsewhere: what was heard so far is what there is
  terminal.on('data', (chunk: Buffer) => {
    const lines = (rest + text.write(chunk)).split(/\r*\n/)
    rest = (lines.pop() ?? '').slice(-1000)
    keep(recording.lines, lines)
  })
  terminal.once('close', () => {
    clearTimeout(timer)
    keep(recording.lines, [rest])
    recording.isOpen = false
  })
  recording.end = () => void terminal.destroy()
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
