// A hundred sign-ins a second from many addresses, of known and unknown users: nobody gets in, nobody is locked out, nobody waits for it.
import { beforeAll, expect, test } from 'vitest'
import { stopwatch } from '../src/kernel/clock.ts'
import type { Attack } from './attacker.ts'
import { expectUnharmed, legitimateCustomer, measureImpact, send, startTarget } from './legitimate-customer.ts'
import { berthdJson } from './processes.ts'

const PASSWORD = 'correct horse battery'
/** Where the user has signed in before. Several, because at most 100 requests a minute may come from one. */
const HOMES = Array.from({ length: 8 }, (_, i) => `198.51.100.${10 + i}`)
const target = await startTarget()
const customer = await legitimateCustomer(target)
let signIns = 0

const page = (address: string) => ({ 'x-forwarded-for': address, origin: target.origin, 'sec-fetch-site': 'same-origin' })
const post = (path: string, address: string, body: object) => send(`${target.origin}/api/dashboard${path}`, 'POST', page(address), body)
/** Must succeed. */
async function signIn(address: string): Promise<void> {
  const { status, body } = await post('/sign-in', address, { email: customer.email, password: PASSWORD })
  if (status !== 200) throw new Error(`The user was kept out: ${status} ${body.error}`)
}

beforeAll(async () => {
  const { url } = await berthdJson(target.settings, 'user', 'link', '--account', customer.email)
  await post('/password-reset/complete', HOMES[0]!, { token: new URL(url!).hash.slice(1), password: PASSWORD })
  for (const home of HOMES) await signIn(home)
})

/** Every second one guesses the password of the customer; no address sends many. */
const flood = (path = '/sign-in', more: object = {}): Attack => ({
  perSecond: 100,
  shots: Array.from({ length: 20_000 }, (_, i) => ({
    method: 'POST',
    url: `${target.origin}/api/dashboard${path}`,
    headers: { ...page(`10.${i % 40}.${Math.floor(i / 250)}.${i % 250}`), 'content-type': 'application/json' },
    body: JSON.stringify({ email: i % 2 === 0 ? customer.email : `nobody${i}@example.com`, password: `guess number ${i}`, ...more }),
  })),
})

async function timedSignIn(): Promise<number[]> {
  const elapsed = stopwatch()
  await signIn(HOMES[signIns++ % HOMES.length]!)
  return [elapsed()]
}

test('requests with a token are answered as before', async () => {
  const impact = await measureImpact(flood(), () => customer.work())
  expect(Object.keys(impact.statuses).toSorted()).toEqual(['401', '429', '503'])
  expectUnharmed(impact)
})

test('the user signs in at known addresses as before', async () => {
  const impact = await measureImpact(flood(), timedSignIn, { perWindow: 7, share: 0.5 })
  expect(impact.statuses[200]).toBeUndefined()
  expectUnharmed(impact)
})

test('a flood of forged links delays no sign-in', async () => {
  const token = `lnk_${'x'.repeat(46)}`
  const impact = await measureImpact(flood('/password-reset/complete', { token, email: undefined }), timedSignIn, {
    perWindow: 7,
    share: 0.5,
  })
  expect(Object.keys(impact.statuses)).toEqual(['410'])
  expectUnharmed(impact)
})
