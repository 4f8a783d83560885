// Forged tokens and cookies, well-formed and from many addresses: none is accepted, and nobody waits for it.
import { describe, expect, test } from 'vitest'
import { newToken } from '../src/kernel/crypto.ts'
import type { Attack } from './attacker.ts'
import { expectUnharmed, legitimateCustomer, measureImpact, startTarget } from './legitimate-customer.ts'

const target = await startTarget()
const customer = await legitimateCustomer(target)

const flood = (path: string, credential: () => Record<string, string>, addressOf: (n: number) => string): Attack => ({
  perSecond: 250,
  shots: Array.from({ length: 30_000 }, (_, n) => ({
    method: 'GET',
    url: `${target.origin}${path}`,
    headers: { ...credential(), 'x-forwarded-for': addressOf(n) },
  })),
})
const many = (n: number): string => `10.${n % 200}.${Math.floor(n / 200) % 200}.1`

describe.each([
  ['tokens', '/api/public/v1/vms', () => ({ 'x-api-key': newToken('vmk_') })],
  ['cookies', '/api/dashboard/v1/vms', () => ({ cookie: `berth=${newToken('ses_')}` })],
])('forged %s', (_what, path, credential) => {
  test('from many addresses are refused, and delay nobody', async () => {
    const impact = await measureImpact(flood(path, credential, many), () => customer.work())
    expect(Object.keys(impact.statuses)).toEqual(['401'])
    expectUnharmed(impact)
  })

  test('from one address are refused from memory, and delay nobody', async () => {
    const impact = await measureImpact(
      flood(path, credential, () => '10.255.0.1'),
      () => customer.work(),
    )
    const { 401: looked = 0, 429: refused = 0, ...others } = impact.statuses
    expect(others).toEqual({})
    expect(looked).toBeLessThan(refused)
    expectUnharmed(impact)
  })
})
