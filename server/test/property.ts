// Property test: after any sequence of customer operations and faults, once all faults are repaired and reconcilers have run, every
// invariant holds. A seed determines everything, so a failure is reproducible: BERTH_TEST_SEED=17 npx vitest run
// server/test/property.test.ts
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import { replayedSeed, testApp } from './harness.ts'
import { customerOperations, settleIn, type Operation } from './property/customers.ts'
import { controlChance, randomFrom, type Chance, type Random } from './property/seeded.ts'
import { otherOperations } from './property/chaos.ts'
import { newFixture, START } from './property/fixture.ts'

const OPERATIONS = [...customerOperations, ...otherOperations]
const WHOLE = OPERATIONS.reduce((sum, { weight }) => sum + weight, 0)

function choose({ next }: Random): Operation {
  let left = next() * WHOLE
  return OPERATIONS.find(({ weight }) => (left -= weight) < 0)!
}

export function describeProperty({ seeds, operations }: { seeds: number; operations: number }): void {
  describe(`${seeds} times ${operations} random operations and faults`, { timeout: 300_000 }, async () => {
    const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })
    let chance: Chance
    beforeAll(() => void (chance = controlChance()))
    afterAll(() => chance.end())

    /** Returns the trace, and the invariant violations after it. */
    const play = async (seed: number): Promise<{ trace: string; broken: string }> => {
      chance.reseed(seed, START)
      const random = randomFrom(seed)
      const fixture = await newFixture(app, random)
      const trace = (): string => fixture.trace.join('\n')
      try {
        await settleIn(fixture)
        for (let step = 1; step <= operations; step++) {
          const { name, act } = choose(random)
          fixture.trace.push(`${step}. ${name}`)
          chance.reseed(seed * 1_000 + step, app.clock.now())
          await act(fixture)
        }
        await fixture.rest()
        return { trace: trace(), broken: formatFailures(await checkInvariants(app.deps)) }
      } catch (error) {
        throw new Error(`Seed ${seed}: ${(error as Error).message}\n${trace()}`, { cause: error })
      }
    }

    const all = Array.from({ length: seeds }, (_, index) => index + 1)
    test.each(replayedSeed === null ? all : [replayedSeed])('seed %i', async (seed) => {
      const { trace, broken } = await play(seed)
      expect(broken, trace).toBe('')
    })

    test('a seed is deterministic', async () => {
      expect((await play(1)).trace).toBe((await play(1)).trace)
    })
  })
}
