import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { areas, Host } from '../src/index.ts'
import type { CallOptions, LibvirtError } from '../src/index.ts'
import { decode } from '../src/xdr/types.ts'
import { eventually } from './eventually.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'

/** Another domain for each number. */
const guest = (number: number) => ({ name: `g${number}`, uuid: `00000000-0000-4000-8000-00000000010${number}`, id: number })

describe('calls to guests', () => {
  const { agentCommand } = areas.guests
  let daemon: ScriptedDaemon
  let asked: { name: string; reply: () => void }[] = []
  let host: Host
  const ask = (number: number, options?: CallOptions) => host.guests.agentCommand({ domain: guest(number), command: '{}' }, options)
  const names = () => asked.map(({ name }) => name)
  const arrived = (...expected: string[]) =>
    eventually(`calls to ${expected.join()}`, () => names().join() === expected.join() || undefined)
  const replyTo = (name: string) => asked.splice(names().indexOf(name), 1)[0]?.reply()
  /** Answers after six seconds. */
  const answerLate = async (...numbers: number[]) => {
    const calls = numbers.map((number) => ask(number))
    await arrived(...numbers.map((number) => `g${number}`))
    vi.advanceTimersByTime(6_000)
    for (const { reply } of asked.splice(0)) reply()
    await Promise.all(calls)
  }

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    daemon = await ScriptedDaemon.start()
    asked = []
    daemon.on(agentCommand, (call, peer) => {
      const { domain: one } = decode(agentCommand.args as never, call.payload) as { domain: { name: string } }
      asked.push({ name: one.name, reply: () => peer.reply(call, agentCommand.result, '{}') })
    })
    host = await new Host({ endpoint: daemon.endpoint }).whenUp()
  })
  afterEach(async () => {
    vi.useRealTimers()
    await host.close()
    await daemon.stop()
  })

  test('are sent one at a time to each', async () => {
    const calls = [ask(1), ask(1), ask(1), ask(2)]
    await arrived('g1', 'g2')
    replyTo('g1')
    await arrived('g2', 'g1')
    replyTo('g1')
    replyTo('g2')
    await arrived('g1')
    replyTo('g1')
    expect(await Promise.all(calls)).toEqual(['{}', '{}', '{}', '{}'])
  })

  test('that answer late keep only each other waiting', async () => {
    await answerLate(1, 2, 3)
    const late = [ask(1), ask(2), ask(3)]
    await arrived('g1')
    const prompt = [ask(4), ask(5), ask(6)]
    await arrived('g1', 'g4', 'g5')
    replyTo('g4')
    await arrived('g1', 'g5', 'g6')
    replyTo('g1')
    await arrived('g5', 'g6', 'g2')
    for (const name of ['g5', 'g6', 'g2']) replyTo(name)
    await arrived('g3')
    replyTo('g3')
    expect(await Promise.all([...late, ...prompt])).toHaveLength(6)
  })

  test('that answered late long ago wait for nobody', async () => {
    await answerLate(1, 2)
    vi.advanceTimersByTime(600_001)
    const calls = [ask(1), ask(2)]
    await arrived('g1', 'g2')
    for (const name of names()) replyTo(name)
    expect(await Promise.all(calls)).toHaveLength(2)
  })

  test('have their timeout from when they are sent', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    const first = ask(1)
    await arrived('g1')
    const second = ask(1, { timeoutMs: 300 })
    vi.advanceTimersByTime(400)
    replyTo('g1')
    await arrived('g1')
    replyTo('g1')
    expect(await Promise.all([first, second])).toEqual(['{}', '{}'])
  })

  test('are never sent when their signal aborts before their turn, and urgent ones go first', async () => {
    const abort = new AbortController()
    const calls = [ask(1), ask(2), ask(3)]
    await arrived('g1', 'g2', 'g3')
    const cancelled = ask(4, { signal: abort.signal })
    const usual = ask(5)
    const urgent = ask(6, { urgent: true })
    abort.abort()
    await expect(cancelled).rejects.toMatchObject({ name: 'CancelledError', outcome: 'not sent' })
    for (const next of ['g6', 'g5']) {
      asked.shift()?.reply()
      await eventually(next, () => names().at(-1) === next || undefined)
    }
    for (const name of names()) replyTo(name)
    await Promise.all([...calls, usual, urgent])
  })

  test('end with the host, sent or not', async () => {
    const calls = [ask(1), ask(1)]
    await arrived('g1')
    const settled = Promise.allSettled(calls)
    await host.close()
    expect((await settled).map((one) => one.status === 'rejected' && (one.reason as LibvirtError).outcome)).toEqual(['unknown', 'not sent'])
  })
})
