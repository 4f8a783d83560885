import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { OvnGuests } from '../../../test/ovn-guests.ts'
import { missingForOvn } from '../../../test/ovn-hosts.ts'
import { type PortSpec } from '../network-controller.ts'
import type { Filter } from '../spec.ts'

const soon = (): AbortSignal => AbortSignal.timeout(200_000)
const CLOSED: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }

/** As many as a VM can have by default: ten firewalls of 50 rules. */
const [LONG, MACHINES] = [500, 10]

describeIf(missingForOvn())('long filters', { timeout: 280_000 }, () => {
  let ovn: OvnGuests
  beforeAll(async () => {
    ovn = await OvnGuests.open(1, { ranges: ['10.61.0.0/24'], allowed: [] })
  }, 120_000)
  afterAll(() => ovn?.close())
  let addresses = 0
  const filterOf = (rules: number): Filter => ({
    ...CLOSED,
    rules: Array.from({ length: rules }, (_, i) => {
      const number = ++addresses
      return {
        direction: 'IN',
        action: 'ACCEPT',
        protocol: 'TCP',
        ports: [{ from: 1 + i, to: 1 + i }],
        sources: [`11.${number >> 16}.${(number >> 8) & 255}.${number & 255}`, `12.${number >> 16}.${(number >> 8) & 255}.${number & 255}`],
        destinations: [],
      }
    }),
  })

  test('of one machine after the other do not keep a short one of another waiting for all of them', async () => {
    const machines = Array.from({ length: MACHINES }, () => ovn.portOf())
    const other = ovn.portOf()
    for (const port of machines) await ovn.controller.ensurePort({ ...port, filter: filterOf(LONG) }, soon())
    await ovn.plug(other)
    const order: string[] = []
    const change = async (port: PortSpec, rules: number): Promise<void> => {
      await ovn.controller.ensurePort({ ...port, filter: filterOf(rules), version: 1 }, soon())
      order.push(port.mac)
    }
    const long = machines.map((port) => change(port, LONG))
    await change(other, 1)
    await Promise.all(long)
    expect(order).toHaveLength(MACHINES + 1)
    expect(order.indexOf(other.mac)).toBeLessThan(4)
  })
})
