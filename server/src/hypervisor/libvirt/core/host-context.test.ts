import { areas } from '@berth/libvirt'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { ScriptedDaemon } from '../../../../../libvirt/test/scripted-daemon.ts'
import { pressPowerButton } from '../machine/power.ts'
import { openHostContext } from './host-context.ts'

const { destroy, getAllStats, shutdown, listAll } = areas.domains
const domain = { name: 'berth-c1', uuid: '00000000-0000-4000-8000-000000000001', id: 1 }
const images = { open: () => Promise.reject(new Error('there are none')) }
let daemon: ScriptedDaemon
let context: ReturnType<typeof openHostContext>
/** Answer the calls that keep others waiting. */
let held: (() => void)[]

const heardOf = (procedure: { number: number }): number => daemon.received.filter((frame) => frame.procedure === procedure.number).length

beforeEach(async () => {
  held = []
  daemon = await ScriptedDaemon.start()
  daemon.on(getAllStats, (call, peer) => peer.reply(call, getAllStats.result, []))
  daemon.on(listAll, (call, peer) => peer.reply(call, listAll.result, [domain]))
  daemon.on(shutdown, (call, peer) => peer.reply(call))
  daemon.on(destroy, (call, peer) => void held.push(() => peer.reply(call)))
  context = openHostContext({ hostId: 'c1', endpoint: daemon.endpoint, images, log: pino({ level: 'silent' }) })
  await context.host.whenUp(10_000)
})
afterEach(async () => {
  await context.close()
  await daemon.stop()
})

test('a call aborted while it is queued is never sent', async () => {
  const caller = new AbortController()
  const busy = Promise.all(Array.from({ length: 4 }, () => context.host.domains.destroy({ domain })))
  await eventually('a busy host', () => held.length === 4 || undefined)
  const stopped = pressPowerButton(context, domain, 'shutdown', caller.signal)
  caller.abort()
  await expect(stopped).rejects.toMatchObject({ kind: 'aborted' })
  for (const answer of held) answer()
  await busy
  await pressPowerButton(context, domain, 'shutdown', AbortSignal.timeout(10_000))
  expect(heardOf(shutdown)).toBe(1)
})

test('after an abort the next call of the same work is not sent', async () => {
  const caller = new AbortController()
  const work = context.call('stop it', caller.signal, async (host) => {
    await host.domains.destroy({ domain })
    await host.domains.shutdown({ domain })
  })
  await eventually('the first step', () => held.length === 1 || undefined)
  caller.abort()
  await expect(work).rejects.toMatchObject({ kind: 'aborted' })
  held[0]!()
  await context.host.domains.listAll()
  await context.host.domains.shutdown({ domain })
  expect(heardOf(shutdown)).toBe(1)
})
