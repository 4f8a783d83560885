import { expect, test } from 'vitest'
import { rateLimitedWarn, type Log } from './log.ts'

test('a swarm of errors is written once and counted', () => {
  const written: unknown[] = []
  const warn = rateLimitedWarn({ warn: (fields: unknown, message: string) => written.push([fields, message]) } as unknown as Log, 'queue')
  for (let i = 0; i < 100; i++) warn(`error ${i}`)
  expect(written).toEqual([[{ err: 'error 0' }, 'queue']])
})
