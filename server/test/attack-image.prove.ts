// Whoever controls a hop of a download, a mirror or an image gets none of it into a template.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCatalog } from '../src/features/catalog/seed.ts'
import { testDatabase } from './harness.ts'
import { httpsServer, type HttpsServer } from './https-server.ts'
import { berthd, type Outcome, type Settings } from './processes.ts'

const folder = await mkdtemp(join(tmpdir(), 'berth-hostile-'))
afterAll(() => rm(folder, { recursive: true }))
const plain = createServer((_request, response) => void response.end(evil))
let server: HttpsServer
let settings: Settings
let good: Buffer
let evil: Buffer
let backed: Buffer
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

beforeAll(async () => {
  const [disk, image, other, leak] = ['disk.raw', 'good.qcow2', 'evil.qcow2', 'backed.qcow2'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  const content = Buffer.alloc(2 * 1024 ** 2)
  content.writeUInt16BE(0x55aa, 510)
  await writeFile(disk, content)
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', disk, image])
  await writeFile(disk, Buffer.concat([content.subarray(0, 512), Buffer.alloc(2 * 1024 ** 2 - 512, 'evil')]))
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', disk, other])
  execFileSync('qemu-img', ['create', '-f', 'qcow2', '-b', '/etc/passwd', '-F', 'raw', leak], { stdio: 'pipe' })
  ;[good, evil, backed] = await Promise.all([readFile(image), readFile(other), readFile(leak)])
  plain.listen(0, '127.0.0.1')
  await once(plain, 'listening')
  const plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
  server = await httpsServer((request, response) => {
    const files: Record<string, Buffer | string> = {
      '/good.qcow2': good,
      '/evil.qcow2': evil,
      '/backed.qcow2': backed,
      '/SHA256SUMS': `${sha256(good)}  good.qcow2\n${sha256(good)} *evil.qcow2\n${sha256(backed)}  backed.qcow2\n`,
    }
    const redirects: Record<string, string> = { '/down.qcow2': `${plainUrl}/good.qcow2`, '/down-sums': `${plainUrl}/SHA256SUMS` }
    const location = redirects[request.url!]
    if (location) return void response.writeHead(302, { location }).end()
    response.end(files[request.url!])
  })
  settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder, NODE_EXTRA_CA_CERTS: server.caFile }
})
afterAll(async () => {
  plain.closeAllConnections()
  plain.close()
  await server.close()
})

const bring = (path: string, ...options: string[]): Promise<Outcome> =>
  berthd(
    settings,
    'template',
    'import',
    'mine',
    '--name',
    'Mine',
    '--url',
    path.startsWith('/') ? `${server.url}${path}` : path,
    ...options,
  )
const sums = (): string[] => ['--checksums', `${server.url}/SHA256SUMS`]
const stored = async (): Promise<string[]> =>
  (await readdir(join(folder, 'images')).catch(() => [])).filter((name) => name.endsWith('.qcow2'))

describe('an image is refused', { timeout: 60_000 }, () => {
  test.each<[string, () => Promise<Outcome>, number, RegExp]>([
    ['without a checksum', () => bring('/evil.qcow2'), 2, /No checksum .* is known.*--unverified/],
    ['over plain http, even with its checksum', () => bring('http://127.0.0.1:9/x', '--checksum', 'ab'.repeat(32)), 1, /by https only/],
    ['when a hop is plain http', () => bring('/down.qcow2', '--checksum', sha256(evil)), 1, /redirects to http:/],
    ['when a hop is plain http and nothing is to be verified', () => bring('/down.qcow2', '--unverified'), 1, /redirects to http:/],
    [
      'when its checksums come over plain http',
      () => bring('/good.qcow2', '--checksums', `${server.url}/down-sums`),
      1,
      /redirects to http:/,
    ],
    ['when the published checksum is of another file', () => bring('/evil.qcow2', ...sums()), 1, /instead of/],
    ['when the published file does not name it', () => bring('/unknown.qcow2', ...sums()), 1, /has no sha256 or sha512 of unknown.qcow2/],
    ['with a backing file, although its checksum is right', () => bring('/backed.qcow2', ...sums()), 1, /backing file/],
    [
      'from a server that no known authority vouches for',
      () =>
        berthd(
          { ...settings, NODE_EXTRA_CA_CERTS: '' },
          'template',
          'import',
          'mine',
          '--name',
          'x',
          '--url',
          `${server.url}/good.qcow2`,
          '--unverified',
        ),
      1,
      /cannot be reached/,
    ],
  ])('%s', async (_why, attempt, code, message) => {
    expect(await attempt()).toMatchObject({ code, stderr: expect.stringMatching(message) })
    expect(await stored()).toEqual([])
  })
})

test('the right image is taken with the published checksum', async () => {
  expect(await bring('/good.qcow2', ...sums())).toMatchObject({ code: 0 })
  expect(await stored()).toHaveLength(1)
})

test('every image of the catalog has a published checksum over https', () => {
  const { osTemplates } = readCatalog(null)
  for (const { slug, urls = {}, checksums = {} } of osTemplates)
    for (const [arch, url] of Object.entries(urls)) {
      expect([slug, arch, url]).toEqual([slug, arch, expect.stringMatching(/^https:\/\//)])
      expect([slug, arch, checksums[arch]]).toEqual([slug, arch, expect.stringMatching(/^https:\/\//)])
      expect(new URL(checksums[arch]!).host).toBe(new URL(url).host)
    }
})
