// Nothing is oversold, whatever arrives: the scheduler in a region without a database.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstFit, liveYear, randomFit, scheduler, someHosts, yearOf } from '../../../test/placement-simulator.ts'
import type { Need } from './placement.ts'

describe('the scheduler sells nothing twice', () => {
  test.for([
    ['the scheduler', scheduler],
    ['first fit', firstFit],
    ['random', randomFit(1)],
  ] as const)('%s, in a year in which more is asked for than there is', ([, policy]) => {
    const { problems, refused } = liveYear(someHosts(20), policy, yearOf(20, 7))
    expect(problems).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
  })

  test.for([1, 2, 3, 4, 5])(
    'and in such a year it sells more memory than first fit and random, and refuses later and less of it: year %i',
    (seed) => {
      const arrivals = yearOf(60 * 0.42, seed)
      const [best, ...others] = [scheduler, firstFit, randomFit(seed)].map((policy) => liveYear(someHosts(60), policy, arrivals))
      for (const other of others) {
        expect(best!.ramSold).toBeGreaterThan(other.ramSold)
        expect(best!.ramRefused).toBeLessThan(other.ramRefused)
        expect(best!.first!.day).toBeGreaterThanOrEqual(other.first!.day)
      }
    },
  )

  test('with 200 hosts and 20,000 VMs at once', () => {
    const size = { vcpu: 1, ramMiB: 2048, diskGiB: 20, arch: 'x86_64', traits: [], network10g: false, boughtMbps: 0, publicIpv4: true }
    const arrivals = Array.from({ length: 23_500 }, (_, index) => ({ id: `vm-${index}`, day: 0, lastDay: 1, need: size }))
    const { problems, refused, most } = liveYear(someHosts(200), scheduler, arrivals, 1)
    expect([problems, most, refused.length]).toEqual([[], 23_000, 500]) // 115 of 2 GiB in each of 200 × 230 GiB
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
        const rows = someHosts(hosts)
        const last = arrivals.at(-1)
        const { problems, refused } = liveYear(rows, scheduler, arrivals, last?.day ?? 0) // until the last has arrived
        expect(problems).toEqual([])
        const taker = last && refused.at(-1) === last ? firstFit(rows, last.need, new Map()) : undefined
        expect(taker).toBe(undefined)
      }),
      { numRuns: 200 },
    )
  })
})
