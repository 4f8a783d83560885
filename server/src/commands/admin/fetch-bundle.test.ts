import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { createRegion } from '../../features/catalog/service.ts'
import { createEnrollment, prepareEnrollment } from '../../features/hosts/service.ts'
import { sql } from '../../kernel/database/db.ts'
import { newToken } from '../../kernel/crypto.ts'

const app = await testApp()
const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'berth-bundle-'))
afterAll(() => rm(folder, { recursive: true }))
const [tokenFile, out] = [join(folder, 'token'), join(folder, 'bundle')]

const fetchWith = async (token: string, at = url) => {
  await writeFile(tokenFile, `${token}\n`)
  const { code, stderr } = await berthd({}, 'host', 'fetch-bundle', at, '--token-file', tokenFile, '--out', out)
  return [code, stderr]
}

test('berthd host fetch-bundle keeps what the token gives in a file that is its own', async () => {
  await app.db.tx((tx) => createRegion(tx, app.clock.now(), { slug: 'ams1', name: 'A', country: 'NL', city: 'A', available: true }))
  await app.db.run(sql`update regions set network_controller = 'ssl:10.0.0.1' where slug = 'ams1'`)
  const order = { name: 'rack1', address: 'rack1.example.com', region: 'ams1' }
  const prepared = await prepareEnrollment(app.deps, order)
  const { token } = await app.db.tx((tx) => createEnrollment(tx, app.clock.now(), order, prepared))
  await writeFile(tokenFile, token)
  expect(await berthdJson({}, 'host', 'fetch-bundle', url, '--token-file', tokenFile, '--out', out)).toEqual({ out })
  expect(JSON.parse(await readFile(out, 'utf8'))).toMatchObject({ address: 'rack1.example.com', isEnrolled: true })
  expect((await stat(out)).mode & 0o777).toBe(0o600)
  expect(await fetchWith(token)).toEqual([1, expect.stringContaining('used already')])
})

test('berthd host fetch-bundle says what is wrong', async () => {
  const token = newToken('berthhost_')
  expect(await fetchWith(token)).toEqual([1, expect.stringContaining('never was one')])
  expect(await fetchWith(`${token}x`)).toEqual([2, expect.stringContaining('no token of a host')])
  expect(await fetchWith(token, 'cloud.example.com')).toEqual([2, expect.stringContaining('not the address of a dashboard')])
  expect(await fetchWith(token, 'http://127.0.0.1:1')).toEqual([1, expect.stringContaining('cannot be reached')])
})
