import { chmodSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
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

test('login stores the token in a file that only its owner can read', async () => {
  expect(await berth(env, ['login', here.baseUrl, '--name', 'production'], `${ada.token}\n`)).toMatchObject({
    code: 0,
    stdout: `Signed in to ${here.baseUrl} as ${ada.email}. Saved to ${file}\n`,
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await whoAmI()).toBe(ada.email)
})

test('contexts select the server by name', async () => {
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

test('BERTH_TOKEN and BERTH_URL override the file', async () => {
  expect(await whoAmI({ BERTH_URL: there.baseUrl, BERTH_TOKEN: bob.token })).toBe(bob.email)
})

describe('a stored token is sent only to its own server:', () => {
  const elsewhere = { BERTH_URL: there.baseUrl }
  const seen: unknown[] = []
  there.app.server.on('request', ({ headers }: IncomingMessage) => seen.push(headers['x-api-key']))
  beforeEach(() => void (seen.length = 0))

  test('a context named by --context or BERTH_CONTEXT uses its own server', async () => {
    expect(await whoAmI(elsewhere, '--context', 'production')).toBe(ada.email)
    expect(await whoAmI({ ...elsewhere, BERTH_TOKEN: bob.token }, '--context', 'production')).toBe(ada.email)
    expect(await whoAmI({ ...elsewhere, BERTH_TOKEN: bob.token, BERTH_CONTEXT: 'production' })).toBe(ada.email)
    expect(seen).toEqual([])
  })

  test('the current context is refused for another BERTH_URL', async () => {
    expect(await berth({ ...env, ...elsewhere }, ['account', 'show'])).toEqual({
      code: 3,
      stdout: '',
      stderr:
        `Error: BERTH_URL is ${there.baseUrl}, but the token of the current context production is for ${here.baseUrl} only. ` +
        'Set BERTH_TOKEN too, choose a context with --context, or unset BERTH_URL\n',
    })
    expect(seen).toEqual([])
    expect(await whoAmI({ BERTH_URL: `${here.baseUrl}/` })).toBe(ada.email)
  })

  test('login ignores BERTH_TOKEN', async () => {
    const outcome = await berth(
      { ...env, BERTH_TOKEN: ada.token },
      ['login', there.baseUrl, '--name', 'staging', '--keep-current'],
      bob.token,
    )
    expect([outcome.code, new Set(seen)]).toEqual([0, new Set([bob.token])])
  })
})

test('context use and login warn about overriding environment variables', async () => {
  const use = (more = {}) => berth({ ...env, ...more }, ['context', 'use', 'production'])
  const switched = `Switched to production, ${here.baseUrl}\n`
  expect(await use()).toEqual({ code: 0, stdout: switched, stderr: '' })
  expect(await use({ BERTH_URL: here.baseUrl, BERTH_CONTEXT: 'production' })).toEqual({ code: 0, stdout: switched, stderr: '' })
  expect(await use({ BERTH_URL: there.baseUrl, BERTH_TOKEN: bob.token, BERTH_CONTEXT: 'staging' })).toEqual({
    code: 0,
    stdout: `Current context: production, ${here.baseUrl}\n`,
    stderr: 'The environment overrides the context. To use production: unset BERTH_CONTEXT BERTH_TOKEN BERTH_URL\n',
  })
  const login = await berth({ ...env, BERTH_TOKEN: bob.token }, ['login', here.baseUrl, '--name', 'production'], ada.token)
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('unset BERTH_TOKEN') })
})

test('login does not store an invalid token', async () => {
  const before = readFileSync(file, 'utf8')
  expect(await berth(env, ['login', here.baseUrl], 'vmk_wrong')).toMatchObject({ code: 3 })
  expect(await berth(env, ['login', here.baseUrl], 'secret')).toMatchObject({ code: 2 })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('login needs no scope: it says whose the token is where that may be read', async () => {
  const own = { HOME: mkdtempSync(join(here.home, 'own-')) }
  const stored = join(own.HOME, '.config/berth/config.json')
  const vms = await here.given.token(ada.accountId, { scopes: ['vms:*'] })
  expect(await berth(own, ['login', here.baseUrl, '--name', 'ci'], vms.token)).toEqual({
    code: 0,
    stdout: `Signed in to ${here.baseUrl}. Saved to ${stored}\n`,
    stderr: '',
  })
  expect(await berth(own, ['vm', 'list'])).toMatchObject({ code: 0 })
  const signedIn = await berth(own, ['login', here.baseUrl, '--name', 'ci', '--json'], vms.token)
  expect(JSON.parse(signedIn.stdout)).toEqual({ context: 'ci', url: here.baseUrl, email: null, name: null })
})

test('login with a token of a project names the project, and project create says how', async () => {
  const own = { HOME: mkdtempSync(join(here.home, 'own-')) }
  const shop = await here.given.project(ada, 'my shop')
  const outcome = await berth(own, ['login', here.baseUrl, '--name', 'shop'], shop.token)
  expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining(`Signed in to ${here.baseUrl}, to project my shop. Saved`) })
  const [table, name] = [await berth(own, ['account', 'show']), await berth(own, ['account', 'show', '-o', 'name'])]
  expect([table.stdout, name.stdout]).toEqual([expect.stringMatching(/^Name +my shop\n/), 'my shop\n'])

  const created = await berth(here.envOf(ada), ['project', 'create', 'second shop'])
  expect([created.code, created.stderr.trim().split(', and: ')[1]]).toEqual([0, `berth login ${here.baseUrl} --name 'second shop'`])
  expect((await berth(here.envOf(ada), ['project', 'create', 'third', '-o', 'name'])).stderr).toBe('')
})

test('permissions of a world-readable file are tightened', async () => {
  chmodSync(file, 0o644)
  expect(await whoAmI()).toBe(ada.email)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an unknown or deleted context fails and lists the available ones', async () => {
  expect((await berth(env, ['context', 'delete', 'production', '--yes'])).code).toBe(0)
  expect(await berth(env, ['vm', 'list'])).toMatchObject({ code: 3 })
  const outcome = await berth(env, ['vm', 'list', '--context', 'production'])
  expect(outcome).toMatchObject({ code: 2, stderr: 'Error: Context "production" not found. Available: staging\n' })
})

test('login prompts for the token on a terminal without echo', async () => {
  const login = onTerminal(env, ['login', here.baseUrl, '--name', 'typed'])
  await expect.poll(login.text).toContain(`API token for ${here.baseUrl} (vmk_…): `)
  login.type(`${ada.token}\r`)
  const { code, raw } = await login.ended
  expect([code, raw]).toEqual([0, expect.stringContaining(`as ${ada.email}`)])
  expect(raw).not.toContain(ada.token)
})
