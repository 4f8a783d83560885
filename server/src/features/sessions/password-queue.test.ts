import { expect, test } from 'vitest'
import { browserOf, givenUser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { newToken } from '../../kernel/crypto.ts'

const app = await testApp()
const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

test.each([
  ['/password-reset/complete', {}],
  ['/welcome', { email: 'owner@example.com' }],
])('POST %s with an unknown token does not hash the password', async (path, more) => {
  const { email } = await givenUser(app)
  const bogus = () => browserOf(app, '10.8.0.1').post(path, { token: newToken('lnk_'), password: PASSWORD, ...more })
  expect(await bogus().then(({ status, headers }) => [status, headers['x-error-code']])).toEqual([410, 'link_gone'])
  const [hashing, refusing] = [0, 0].map(() => [] as number[])
  for (let i = 0; i < 9; i++) {
    hashing!.push(await msOf(() => browserOf(app, '10.8.0.2').signIn(email)))
    refusing!.push(await msOf(bogus))
  }
  const median = (all: number[]): number => all.toSorted((a, b) => a - b)[4]!
  expect(median(refusing!)).toBeLessThan(median(hashing!) / 2)
})

test('a flood of sign-ins is refused beyond a bounded queue, and does not keep out users at known addresses', async () => {
  const { email } = await givenUser(app)
  const home = browserOf(app, '10.8.1.1')
  expect((await home.signIn(email)).status).toBe(200)
  const flood = Array.from({ length: 120 }, (_, i) => browserOf(app, `10.8.2.${i}`).signIn(`nobody${i}@example.com`, 'wrong'))
  const own = await home.signIn(email)
  const answers = await Promise.all(flood)
  expect(own.status).toBe(200)
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(50)
  expect([refused[0]!.headers['x-error-code'], refused[0]!.headers['retry-after'], refused[0]!.body.error]).toEqual([
    'service_unavailable',
    '1',
    'Too many sign-ins are waiting at the moment: try again in a few seconds',
  ])
  expect(answers.filter(({ status }) => status !== 503).every(({ status }) => status === 401)).toBe(true)
})

test('one address cannot fill the queue', async () => {
  const browser = browserOf(app, '10.8.3.1')
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => browser.signIn(`nobody${i}@example.com`, 'wrong')))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(10)
  expect([refused[0]!.headers['retry-after'], refused[0]!.body.error]).toEqual([
    '1',
    'Several of your passwords are being checked already: try again in a few seconds',
  ])
})
