import { areas } from '@berth/libvirt'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { ScriptedDaemon } from '../../../../../libvirt/test/scripted-daemon.ts'
import { collector, valueOf } from '../../../../test/collector.ts'
import { startTracing } from '../../../kernel/otlp.ts'
import { trace } from '../../../kernel/tracing.ts'
import { openHostContext } from './host-context.ts'

const { getAllStats, listAll } = areas.domains

test('calls of libvirt are spans of the trace under way, without their arguments; others make none', async () => {
  const log = pino({ level: 'silent' })
  const { url, spans, received } = await collector()
  const daemon = await ScriptedDaemon.start()
  daemon.on(getAllStats, (call, peer) => peer.reply(call, getAllStats.result, []))
  daemon.on(listAll, (call, peer) =>
    peer.reply(call, listAll.result, [{ name: 'confidential', uuid: '00000000-0000-4000-8000-000000000001', id: 1 }]),
  )
  const endTracing = startTracing({ url, headers: {}, percent: 100, role: 'worker', log })
  const images = { open: () => Promise.reject(new Error('there are none')) }
  const context = openHostContext({ hostId: 'c1', endpoint: daemon.endpoint, images, log })
  const list = () => context.call('list', AbortSignal.timeout(10_000), (host) => host.domains.listAll())
  await list()
  await trace('run sample', 'CONSUMER', {}, null, list)
  await context.close()
  await daemon.stop()
  await endTracing()
  const [call, run] = spans().toSorted((one, other) => one.name.localeCompare(other.name))
  expect(spans()).toHaveLength(2)
  expect([call!.name, call!.parentSpanId, call!.traceId]).toEqual([`libvirt ${listAll.name}`, run!.spanId, run!.traceId])
  expect(valueOf(call!, 'berth.host_id')).toBe('c1')
  expect(received.map(({ body }) => body).join()).not.toContain('confidential')
})
