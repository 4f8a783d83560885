// Control characters in texts from the server are replaced wherever they are printed.
import { Readable } from 'node:stream'
import type { Action } from '@berth/sdk'
import { expect, test } from 'vitest'
import { json, scripted } from '../../sdk/test/scripted.ts'
import { CommandContext } from '../src/command-context.ts'
import { buildCommand, defineCommand } from '../src/command.ts'
import type { Io } from '../src/io.ts'
import { startProgress } from '../src/progress.ts'
import { table } from '../src/result.ts'
import { berth } from './fixture.ts'
import { ESCAPE } from './screen.ts'

const EVIL = `a${ESCAPE}[31mb`
const SHOWN = 'a\ufffd[31mb'

function terminal() {
  const written: string[] = []
  const stdin = Object.assign(Readable.from(['no\n']), { isTTY: true }) as unknown as NodeJS.ReadStream
  const stderr = { write: (text: string) => written.push(text), isTTY: true }
  const io: Io = { env: { TERM: 'dumb' }, stdin, stdout: { write: () => {} }, stderr }
  return { io, written }
}

test('an error message of the server, with line breaks kept', async () => {
  const { baseUrl } = await scripted(json(409, { success: false, error: `no${ESCAPE}]0;pwned\u0007\nreally` }))
  const outcome = await berth({ BERTH_URL: baseUrl, BERTH_TOKEN: 'vmk_x' }, ['vm', 'list'])
  expect(outcome).toEqual({ code: 5, stdout: '', stderr: 'Error: no\ufffd]0;pwned\ufffd\nreally\n' })
})

test('a confirmation prompt', async () => {
  const { io, written } = terminal()
  await expect(new CommandContext(io, {}).confirm(`${EVIL} will be permanently deleted.`, EVIL)).rejects.toThrow(
    'Cancelled. Nothing was changed',
  )
  expect(written.join('')).toContain(`${SHOWN} will be permanently deleted. Type ${SHOWN} to confirm: `)
  expect(written.join('')).not.toContain(EVIL)
})

test('a note', () => {
  const { io, written } = terminal()
  new CommandContext(io, {}).printNote(EVIL)
  expect(written).toEqual([`${SHOWN}\n`])
})

test('a hint', async () => {
  const { io, written } = terminal()
  const emptyList = defineCommand({ name: 'hint', description: '', example: '', run: async () => table([], {}, EVIL) })
  await buildCommand(emptyList, io).parseAsync([], { from: 'user' })
  expect(written).toEqual([`${SHOWN}\n`])
})

test('an action whose step failed says that it is being undone', () => {
  const { io, written } = terminal()
  const [startedAt, completedAt] = ['2027-01-31T12:00:00Z', '2027-01-31T12:00:20Z']
  const progress = startProgress({ ...io, env: { NO_COLOR: '1' } }, 'resizing')
  const steps = [{ name: 'resize', status: 'FAILED', startedAt, completedAt }]
  for (const status of ['RUNNING', 'RUNNING', 'FAILED']) progress.update({ status, steps } as Action)
  progress.end()
  const lines = written.map((text) => text.replaceAll('\r\x1b[2K', '')).filter((text) => text.endsWith('\n'))
  expect(lines).toEqual([
    expect.stringMatching(/✗ resize +20\.0 s/),
    expect.stringContaining('undoing what was done; it goes on in the background'),
  ])
})

test('action progress and its steps', () => {
  const { io, written } = terminal()
  const [startedAt, completedAt] = ['2027-01-31T12:00:00Z', '2027-01-31T12:00:01Z']
  const steps = [{ name: EVIL, status: 'COMPLETED', startedAt, completedAt }]
  const progress = startProgress({ ...io, env: { NO_COLOR: '1' } }, EVIL)
  progress.update({ steps } as Action)
  progress.end()
  const texts = written.map((text) => text.replaceAll('\r\x1b[2K', '')).filter(Boolean)
  expect(texts).toEqual([expect.stringContaining(` ${SHOWN} `), expect.stringMatching(/^ ✓ a\ufffd\[31mb +1\.0 s\n$/)])
})
