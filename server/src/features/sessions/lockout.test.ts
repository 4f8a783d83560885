import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { memoryCounters, postgresCounters } from '../../kernel/counters.ts'
import { refuse } from '../../kernel/errors.ts'
import { bars, guarded } from './lockout.ts'

const app = await testApp()
const wrong = async (): Promise<never> => {
  throw refuse('wrong_credentials', 'No')
}
const codeOf = (error: unknown): string => (error as { code: string }).code

describe.each([
  ['of one process', () => memoryCounters(app.clock)],
  ['of several processes', () => postgresCounters(app.db, app.clock)],
])('wrong attempts, by counters %s,', (_, open) => {
  test('are stopped at the first bar that is reached, and count against none behind it', async () => {
    const counters = open()
    const all = [bars.personAt('ada', '10.0.0.1'), bars.person('ada')]
    const codes = await Promise.all(Array.from({ length: 50 }, () => guarded(counters, all, wrong).catch(codeOf)))
    expect(codes.filter((code) => code === 'wrong_credentials')).toHaveLength(10)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(40)
    const elsewhere = [bars.personAt('ada', '10.0.0.2'), bars.person('ada')]
    expect(await guarded(counters, elsewhere, async () => 'in')).toBe('in')
  })

  test('are not those that were right, or that never came to be looked at', async () => {
    const counters = open()
    const bar = [bars.code('grace')]
    for (let i = 0; i < 20; i++) expect(await guarded(counters, bar, async () => i)).toBe(i)
    for (let i = 0; i < 20; i++) await expect(guarded(counters, bar, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    const codes: string[] = []
    for (let i = 0; i < 11; i++) codes.push(await guarded(counters, bar, wrong).catch(codeOf))
    expect(codes.at(-2)).toBe('wrong_credentials')
    expect(codes.at(-1)).toBe('rate_limited')
  })
})
