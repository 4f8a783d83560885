// Nothing is oversold, whatever arrives: the scheduler in a region without a database.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  firstFit,
  randomFit,
  scheduler,
  SimulatedRegion,
  someHosts,
  yearOf,
  type Arrival,
  type Policy,
} from '../../../test/placement-simulator.ts'
import type { Need } from './placement.ts'

function live(policy: Policy, hosts: number, arrivals: Arrival[]): { region: SimulatedRegion; refused: Arrival[]; most: number } {
  const region = new SimulatedRegion(someHosts(hosts), policy)
  const refused: Arrival[] = []
  let [day, most] = [0, 0]
  for (const arrival of arrivals) {
    while (day < arrival.day) region.endDay(day++)
    if (!region.arrive(arrival)) refused.push(arrival)
    most = Math.max(most, region.vms.size)
  }
  return { region, refused, most }
}

describe('the scheduler sells nothing twice', () => {
  test.for([
    ['the scheduler', scheduler],
    ['first fit', firstFit],
    ['random', randomFit(1)],
  ] as const)('%s, in a year in which more is asked for than there is', ([, policy]) => {
    const { region, refused } = live(policy, 20, yearOf(20, 7))
    expect(region.audit()).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
  })

  test('with 200 hosts and 20,000 VMs at once', () => {
    const size = { vcpu: 1, ramMiB: 2048, diskGiB: 20, arch: 'x86_64', traits: [], network10g: false, boughtMbps: 0, publicIpv4: true }
    const arrivals = Array.from({ length: 23_500 }, (_, index) => ({ id: `vm-${index}`, day: 0, lastDay: 1, need: size }))
    const { region, refused, most } = live(scheduler, 200, arrivals)
    expect([region.audit(), most, refused.length]).toEqual([[], 23_000, 500]) // 115 of 2 GiB in each of 200 × 230 GiB
  })

  const need = fc.record<Omit<Need, 'dedicatedFor'>>({
    vcpu: fc.integer({ min: 1, max: 64 }),
    ramMiB: fc.integer({ min: 1, max: 300_000 }),
    diskGiB: fc.integer({ min: 0, max: 8000 }),
    arch: fc.constant('x86_64'),
    traits: fc.constantFrom([], ['gpu'], ['10g'], ['dedicated-cpu', '10g']),
    network10g: fc.boolean(),
    boughtMbps: fc.constantFrom(0, 1000),
    publicIpv4: fc.constant(true),
  })
  const arrival = fc.record({
    need,
    day: fc.integer({ min: 0, max: 20 }),
    stays: fc.integer({ min: 0, max: 20 }),
    isDedicated: fc.boolean(),
  })

  test('for any arrivals of any size; who is refused fits nowhere', () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 120 }), fc.integer({ min: 1, max: 10 }), (drawn, hosts) => {
        const arrivals = drawn
          .toSorted((a, b) => a.day - b.day)
          .map(({ day, stays, isDedicated, need: each }, index) => {
            const id = `vm-${index}`
            return { id, day, lastDay: day + stays, need: { ...each, ...(isDedicated && { dedicatedFor: id }) } }
          })
        const { region, refused } = live(scheduler, hosts, arrivals)
        expect(region.audit()).toEqual([])
        const last = refused.at(-1) === arrivals.at(-1) ? refused.at(-1) : undefined
        expect(last && firstFit(region.hosts, last.need, new Map())).toBe(undefined)
      }),
      { numRuns: 200 },
    )
  })
})
