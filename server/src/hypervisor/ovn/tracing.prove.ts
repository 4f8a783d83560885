import { pino } from 'pino'
import { expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { collector } from '../../../test/collector.ts'
import { missingForOvn, OvnRegion } from '../../../test/ovn-hosts.ts'
import { startTracing } from '../../kernel/otlp.ts'
import { trace, traceCalls } from '../../kernel/tracing.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase } from './northbound.ts'

describeIf(missingForOvn())('on real OVN', () => {
  test('a change of a network is a span with its transactions', { timeout: 60_000 }, async () => {
    const log = pino({ level: 'silent' })
    const { url, spans } = await collector()
    const region = await OvnRegion.open(1)
    const endTracing = startTracing({ url, headers: {}, percent: 100, role: 'worker', log })
    const controller = networkController(openNetworkDatabase({ ...region.endpoints, log }))
    const traced = traceCalls(controller, 'network', { 'berth.region_id': 'fra1' })
    const nothingOpen = { ranges: [], allowed: [], gateways: [] }
    await trace('run sample', 'CONSUMER', {}, null, () => traced.ensurePublicNetwork(nothingOpen, AbortSignal.timeout(30_000)))
    await controller.close()
    await endTracing()
    await region.close()
    const find = (name: string) => spans().find((span) => span.name === name)!
    expect(find('network ensurePublicNetwork').parentSpanId).toBe(find('run sample').spanId)
    expect(find('ovsdb transact').parentSpanId).toBe(find('network ensurePublicNetwork').spanId)
  })
})
