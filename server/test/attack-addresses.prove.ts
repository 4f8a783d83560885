// Whoever has a whole IPv6 prefix, or many of them, gets no more than one client of each size, and no memory of the product.
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { newToken } from '../src/kernel/crypto.ts'
import type { Attack, Statuses } from './attacker.ts'
import { expectUnharmed, legitimateCustomer, measureImpact, send, startTarget } from './legitimate-customer.ts'

const target = await startTarget()
const customer = await legitimateCustomer(target)

const hex = (n: number): string => n.toString(16)
/** Each sends from its own address, with a forged token that is well-formed. */
const flood = (perSecond: number, addressOf: (n: number) => string, count = 30_000): Attack => ({
  perSecond,
  shots: Array.from({ length: count }, (_, n) => ({
    method: 'GET',
    url: `${target.url}/vms`,
    headers: { 'x-api-key': newToken('vmk_'), 'x-forwarded-for': addressOf(n) },
  })),
})

/** Sends all shots once, as fast as they are answered. */
async function sendAll({ shots }: Attack): Promise<Statuses> {
  const statuses: Statuses = {}
  let next = 0
  const lane = async (): Promise<void> => {
    for (let shot = shots[next++]; shot; shot = shots[next++]) {
      const { status } = await send(shot.url, shot.method, shot.headers)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  return statuses
}

describe('rotating addresses', () => {
  test.each([
    ['of a /64', 100, (n: number) => `2001:db8:1:1:${hex(n)}::${hex(n)}`],
    ['of the networks of a /56', 400, (n: number) => `2001:db8:2:${hex(0x100 + (n % 256))}::${hex(n)}`],
    ['of the networks of a /48', 1_600, (n: number) => `2001:db8:3:${hex((n * 257) % 65_536)}::1`],
  ])('%s', async (_of, most, addressOf) => {
    expect(await sendAll(flood(0, addressOf, most + 500))).toEqual({ 401: most, 429: 500 })
  })

  test('leaves other networks alone', async () => {
    const from = (address: string) => send(`${target.url}/vms`, 'GET', { 'x-api-key': newToken('vmk_'), 'x-forwarded-for': address })
    expect(await from('2001:db8:4::1')).toMatchObject({ status: 401 })
    expect(await from('2001:db8:2:200::1')).toMatchObject({ status: 401 })
    const headers = { 'x-api-key': customer.token, 'x-forwarded-for': '2001:db8:1:1::7' }
    expect(await send(`${target.url}/vms`, 'GET', headers)).toMatchObject({ status: 200 })
  })
})

describe('a flood from ever new sites', () => {
  const anew = (n: number): string => `2001:${hex(0xd00 + (n >> 16))}:${hex(n & 0xffff)}::1`

  test('delays nobody', async () => {
    const impact = await measureImpact(flood(200, anew), () => customer.work())
    expect(Object.keys(impact.statuses)).toEqual(['401'])
    expectUnharmed(impact)
  })

  test('leaves nothing in memory', async () => {
    const residentMiB = async (): Promise<number> =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${target.pid}/status`, 'utf8'))![1]) / 1024
    const again = (n: number): string => anew(n + 30_000)
    await sendAll(flood(0, again, 3_000))
    const before = await residentMiB()
    await sendAll(flood(0, (n) => again(n + 3_000), 15_000))
    expect((await residentMiB()) - before).toBeLessThan(40)
  })
})
