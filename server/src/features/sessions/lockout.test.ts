import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { memoryCounters, postgresCounters } from '../../kernel/database/window-counters.ts'
import { apiError } from '../../kernel/errors.ts'
import { attemptLimits, withAttemptLimits } from './lockout.ts'

const app = await testApp()
const wrong = async (): Promise<never> => {
  throw apiError('wrong_credentials', 'No')
}
const codeOf = (error: unknown): string => (error as { code: string }).code

describe.each([
  ['of one process', () => memoryCounters(app.clock)],
  ['of several processes', () => postgresCounters(app.db, app.clock)],
])('failed attempts, with counters %s,', (_, open) => {
  test('are stopped at the first limit reached, and do not count against later limits', async () => {
    const counters = open()
    const all = [attemptLimits.userAt('ada', '10.0.0.1'), attemptLimits.user('ada')]
    const codes = await Promise.all(Array.from({ length: 50 }, () => withAttemptLimits(counters, all, wrong).catch(codeOf)))
    expect(codes.filter((code) => code === 'wrong_credentials')).toHaveLength(10)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(40)
    const elsewhere = [attemptLimits.userAt('ada', '10.0.0.2'), attemptLimits.user('ada')]
    expect(await withAttemptLimits(counters, elsewhere, async () => 'in')).toBe('in')
  })

  test('exclude successful attempts and those that were not evaluated', async () => {
    const counters = open()
    const bar = [attemptLimits.code('grace')]
    for (let i = 0; i < 20; i++) expect(await withAttemptLimits(counters, bar, async () => i)).toBe(i)
    for (let i = 0; i < 20; i++)
      await expect(withAttemptLimits(counters, bar, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    const codes: string[] = []
    for (let i = 0; i < 11; i++) codes.push(await withAttemptLimits(counters, bar, wrong).catch(codeOf))
    expect(codes.at(-2)).toBe('wrong_credentials')
    expect(codes.at(-1)).toBe('rate_limited')
  })
})
