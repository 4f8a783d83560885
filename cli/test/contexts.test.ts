import { chmodSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { berth, createCliFixture, onTerminal } from './fixture.ts'

const [here, there] = [await createCliFixture(), await createCliFixture()]
const [ada, bob] = [await here.given.customer(), await there.given.customer()]
const env = { HOME: here.home }
const file = join(here.home, '.config/berth/config.json')
const whoAmI = async (more = {}, ...options: string[]): Promise<string> =>
  (await berth({ ...env, ...more }, ['account', 'show', '-o', 'name', ...options])).stdout.trim()

test('a token is kept in a file that only its owner can read', async () => {
  expect(await berth(env, ['login', here.baseUrl, '--name', 'production'], `${ada.token}\n`)).toMatchObject({
    code: 0,
    stdout: `Signed in to ${here.baseUrl} as ${ada.email}. Kept in ${file}\n`,
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await whoAmI()).toBe(ada.email)
})

test('several servers are told apart by name', async () => {
  await berth(env, ['login', there.baseUrl, '--name', 'staging'], bob.token)
  expect(await whoAmI()).toBe(bob.email)
  expect(await whoAmI({}, '--context', 'production')).toBe(ada.email)
  expect(await whoAmI({ BERTH_CONTEXT: 'production' })).toBe(ada.email)
  expect((await berth(env, ['context', 'use', 'production'])).code).toBe(0)
  expect(await whoAmI()).toBe(ada.email)
  const list = await berth(env, ['context', 'list'])
  expect(list.stdout).toMatch(/^NAME +SERVER +CURRENT\nproduction +http\S+ +yes\nstaging +http\S+ +no\n$/)
  expect(list.stdout).not.toContain('vmk_')
})

test('BERTH_TOKEN and BERTH_URL win over the file', async () => {
  expect(await whoAmI({ BERTH_URL: there.baseUrl, BERTH_TOKEN: bob.token })).toBe(bob.email)
})

describe('a stored token goes only to the server it was stored for:', () => {
  const elsewhere = { BERTH_URL: there.baseUrl }
  const seen: unknown[] = []
  there.app.server.on('request', ({ headers }: IncomingMessage) => seen.push(headers['x-api-key']))
  beforeEach(() => void (seen.length = 0))

  test('a context that is named brings its own server', async () => {
    expect(await whoAmI(elsewhere, '--context', 'production')).toBe(ada.email)
    expect(await whoAmI({ ...elsewhere, BERTH_TOKEN: bob.token }, '--context', 'production')).toBe(ada.email)
    expect(await whoAmI({ ...elsewhere, BERTH_TOKEN: bob.token, BERTH_CONTEXT: 'production' })).toBe(ada.email)
    expect(seen).toEqual([])
  })

  test('the current one does not follow BERTH_URL to another server', async () => {
    expect(await berth({ ...env, ...elsewhere }, ['account', 'show'])).toEqual({
      code: 3,
      stdout: '',
      stderr:
        `Error: BERTH_URL is ${there.baseUrl}, but the token of the current context production is for ${here.baseUrl} alone. ` +
        'Set BERTH_TOKEN too, name a context with --context, or unset BERTH_URL\n',
    })
    expect(seen).toEqual([])
    expect(await whoAmI({ BERTH_URL: `${here.baseUrl}/` })).toBe(ada.email)
  })

  test('signing in takes no token from the environment', async () => {
    const outcome = await berth(
      { ...env, BERTH_TOKEN: ada.token },
      ['login', there.baseUrl, '--name', 'staging', '--keep-current'],
      bob.token,
    )
    expect([outcome.code, new Set(seen)]).toEqual([0, new Set([bob.token])])
  })
})

test('whoever chooses a context is told what of the environment comes first', async () => {
  const use = (more = {}) => berth({ ...env, ...more }, ['context', 'use', 'production'])
  const goes = `Commands now go to production, ${here.baseUrl}\n`
  expect(await use()).toEqual({ code: 0, stdout: goes, stderr: '' })
  expect(await use({ BERTH_URL: here.baseUrl, BERTH_CONTEXT: 'production' })).toEqual({ code: 0, stdout: goes, stderr: '' })
  expect(await use({ BERTH_URL: there.baseUrl, BERTH_TOKEN: bob.token, BERTH_CONTEXT: 'staging' })).toEqual({
    code: 0,
    stdout: `production, ${here.baseUrl}, is the current context now\n`,
    stderr: 'Your environment still comes first. For commands to go to production: unset BERTH_CONTEXT BERTH_TOKEN BERTH_URL\n',
  })
  const login = await berth({ ...env, BERTH_TOKEN: bob.token }, ['login', here.baseUrl, '--name', 'production'], ada.token)
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('unset BERTH_TOKEN') })
})

test('a token that does not work is not kept', async () => {
  const before = readFileSync(file, 'utf8')
  expect(await berth(env, ['login', here.baseUrl], 'vmk_wrong')).toMatchObject({ code: 3 })
  expect(await berth(env, ['login', here.baseUrl], 'secret')).toMatchObject({ code: 2 })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('a file that others can read is closed to them', async () => {
  chmodSync(file, 0o644)
  expect(await whoAmI()).toBe(ada.email)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an unknown or forgotten name is named, with those there are', async () => {
  expect((await berth(env, ['context', 'delete', 'production'])).code).toBe(0)
  expect(await berth(env, ['vm', 'list'])).toMatchObject({ code: 3 })
  const outcome = await berth(env, ['vm', 'list', '--context', 'production'])
  expect(outcome).toMatchObject({ code: 2, stderr: 'Error: There is no context "production". There are: staging\n' })
})

test('a person is asked for the token, and it is not shown', async () => {
  const login = onTerminal(env, ['login', here.baseUrl, '--name', 'typed'])
  await expect.poll(login.text).toContain(`API token of ${here.baseUrl} (vmk_…): `)
  login.type(`${ada.token}\r`)
  const { code, raw } = await login.ended
  expect([code, raw]).toEqual([0, expect.stringContaining(`as ${ada.email}`)])
  expect(raw).not.toContain(ada.token)
})
