import { beforeEach, describe, expect, test } from 'vitest'
import { ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import { initializationMethods, readAnswer } from './initialization.ts'

const STATUS = {
  v1: {
    datasource: 'DataSourceNoCloud',
    'init-local': { start: 100.25, finished: 101, errors: [] },
    'modules-final': { start: 150, finished: 160.5, errors: [] },
  },
}
const answer = (...parts: unknown[]): string => parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('\x1e')
const resultOf = (...errors: unknown[]) => ({ v1: { datasource: 'DataSourceNoCloud', errors } })
const RUNNING = { state: 'running', seconds: null, errors: [], output: '' }

describe('what a guest says of its initialization', () => {
  test('is read', () => {
    expect(readAnswer(answer('none', ''))).toEqual({ ...RUNNING, state: 'none' })
    expect(readAnswer(answer('waiting', ''))).toEqual(RUNNING)
    expect(readAnswer(answer('found', STATUS, ''))).toEqual(RUNNING)
    expect(readAnswer(answer('found', STATUS, resultOf(), '', 'hello\n'))).toEqual({
      state: 'completed',
      seconds: 60,
      errors: [],
      output: 'hello\n',
    })
    expect(readAnswer(answer('found', STATUS, resultOf("('scripts-user', …)"), '', 'hello\n'))).toMatchObject({
      state: 'failed',
      errors: ["('scripts-user', …)"],
    })
  })

  test('has failed where a part could not be read, which cloud-init only warns of', () => {
    const warning = '2026-01-01 00:00:00,000 - util.py[WARNING]: Failed loading yaml blob. Invalid format at line 3'
    expect(readAnswer(answer('found', STATUS, resultOf(), `${warning}\n`, ''))).toMatchObject({ state: 'failed', errors: [warning] })
  })

  test('has no seconds where its clock was set, or it does not say', () => {
    const secondsOf = (start: unknown, finished: unknown) =>
      readAnswer(
        answer('found', { v1: { 'init-local': { start, finished: 1 }, 'modules-final': { start: 1, finished } } }, resultOf(), '', ''),
      )?.seconds
    expect([secondsOf(5, 4), secondsOf(0, 1.8e9), secondsOf(1, null), secondsOf(1, 1.4)]).toEqual([null, null, null, 0])
    expect(readAnswer(answer('found', { v1: {} }, resultOf(), '', ''))?.seconds).toBeNull()
  })

  test('is kept short, and clear of what terminals take for commands', () => {
    const hostile = resultOf(...Array.from({ length: 900 }, (_, index) => `\x1b[31merror ${index}\x1b[0m\u202e\x07${'x'.repeat(2_000)}`))
    const read = readAnswer(answer('found', STATUS, hostile, '', `\x1b]0;title\x07a\r\nb\0\ud800${'y'.repeat(9_000)}`))!
    expect(read.errors).toHaveLength(10)
    expect(read.errors[0]).toMatch(/^error 0x{493}$/)
    expect(read.output).toBe('y'.repeat(4_096))
    expect(readAnswer(answer('found', STATUS, resultOf(), '', '\x1b[2Ja\r\nb\0\u009b31m'))?.output).toBe('a\nb31m')
  })

  test.for([
    '',
    'x',
    'found',
    answer('found', 'x', ''),
    answer('found', { v1: 1 }, ''),
    answer('found', { v1: { 'init-local': { start: 'x', finished: 1 } } }, ''),
    answer('found', STATUS, 'x', '', ''),
    answer('found', STATUS, resultOf(1), '', ''),
    answer('found', STATUS, resultOf(...Array(1001).fill('x')), '', ''),
    answer('found', STATUS, resultOf()),
    answer('found', STATUS, resultOf(), ''),
  ])('%.60j says nothing', (text) => {
    expect(readAnswer(text)).toBeUndefined()
  })
})

describe('the driver', () => {
  let host: ScriptedHost
  beforeEach(async () => {
    host = await ScriptedHost.start()
    host.onAgent('guest-exec', (reply) => reply({ pid: 7 }))
  })
  const says = (value: object) => host.onAgent('guest-exec-status', (reply) => reply(value))
  const read = () => initializationMethods(host.context).readInitialization(VM, AbortSignal.timeout(10_000))
  const encoded = (text: string) => Buffer.from(text).toString('base64')

  test('reads it from the output of a script', async () => {
    says({ exited: true, exitcode: 0, 'out-data': encoded(answer('found', STATUS, resultOf(), '', 'hello')) })
    expect(await read()).toMatchObject({ state: 'completed', output: 'hello' })
  })

  test.for([
    { exited: false },
    { exited: true },
    { exited: true, 'out-data': '*' },
    { exited: true, 'out-data': 'A'.repeat(2 ** 18) },
    { exited: 1 },
  ])('does not believe %.60j', async (value) => {
    says(value)
    await expect(read()).rejects.toMatchObject({ kind: 'transient' })
  })
})
