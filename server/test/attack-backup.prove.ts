// Whoever can write the backup file of an installation changes nothing of it and runs nothing on the machine that restores it.
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TRAILER_BYTES } from '../src/kernel/dump/format.ts'
import { berthd, berthdJson, type Settings } from './processes.ts'

const folder = await mkdtemp(join(tmpdir(), 'berth-attack-'))
afterAll(() => rm(folder, { recursive: true }))
const backup = join(folder, 'backup.gz')
const proof = join(folder, 'proof-of-attack')
let bytes: Buffer
let restores = 0

/** A machine with the right master key and no database. */
async function target(): Promise<Settings> {
  const dataDir = join(folder, `target-${++restores}`)
  await mkdir(dataDir, { recursive: true })
  await copyFile(join(folder, 'master.key'), join(dataDir, 'master.key'))
  return { BERTH_DATA_DIR: dataDir }
}

async function restore(content: Buffer, ...options: string[]) {
  const [settings, file] = [await target(), join(folder, `tampered-${restores}.gz`)]
  await writeFile(file, content)
  return berthd(settings, 'restore', file, ...options)
}

/** With a checksum that matches again. */
function rewritten(change: (text: string) => string): Buffer {
  const text = gunzipSync(bytes).toString('latin1')
  const body = change(text.slice(0, text.lastIndexOf('{"end"')))
  expect(body).not.toBe(text.slice(0, text.lastIndexOf('{"end"')))
  const sha256 = createHash('sha256').update(Buffer.from(body, 'latin1')).digest('hex')
  return gzipSync(Buffer.from(`${body}${JSON.stringify({ end: { tables: 1, rows: 1, sha256 } })}\n`, 'latin1'))
}

const wasRun = (): Promise<boolean> =>
  stat(proof).then(
    () => true,
    () => false,
  )

beforeAll(async () => {
  const source = { BERTH_DATA_DIR: join(folder, 'source'), BERTH_MASTER_KEY_FILE: join(folder, 'master.key') }
  await writeFile(join(folder, 'master.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 })
  await berthdJson(source, 'migrate')
  await berthdJson(source, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(source, 'backup', backup)
  bytes = await readFile(backup)
}, 120_000)

const COMMAND = `copy (select 1) to program 'id > ${proof}; chmod 644 ${proof}'`

const withPartition = (partition: object) => (text: string) =>
  text.replace(/"partitions":\[.*?\]/, `"partitions":${JSON.stringify([partition])}`)

const PLANTED: [string, (text: string) => string][] = [
  ['name of a partition', withPartition({ name: `x (a int); ${COMMAND}; --`, parent: 'x', bound: '' })],
  [
    'bound of a partition',
    withPartition({ name: 'x', parent: 'metrics_1m', bound: `FOR VALUES FROM ('2001-01-01') TO ('2001-01-02'); ${COMMAND}` }),
  ],
  ['name of a table', (text) => text.replace('"table":"public.accounts"', `"table":"public.accounts from stdin; ${COMMAND}; --"`)],
  ['name of a column', (text) => text.replace('"columns":["id"', `"columns":["id) from stdin; ${COMMAND}; --"`)],
]

describe('a tampered backup', { timeout: 120_000 }, () => {
  test.each(PLANTED)('with SQL as the %s', async (_what, change) => {
    const evil = rewritten(change)
    expect(await restore(evil)).toMatchObject({ code: 1, stderr: expect.stringContaining('authenticate') })
    expect(await wasRun()).toBe(false)
    // Not even when the operator is talked into accepting it.
    expect(await restore(evil, '--unauthenticated')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('which this version does not have'),
    })
    expect(await wasRun()).toBe(false)
  })

  test('with another row', async () => {
    expect(await restore(rewritten((text) => text.replace('ada@example.com', 'eve@example.com')))).toMatchObject({ code: 1 })
  })

  test('with a changed byte, cut off, or without its end', async () => {
    const places = [...Array(12).keys()].map((i) => Math.floor((i * (bytes.length - 1)) / 11))
    const changed = places.map((at) => Buffer.concat([bytes.subarray(0, at), Buffer.from([bytes[at]! ^ 1]), bytes.subarray(at + 1)]))
    for (const content of [
      ...changed,
      bytes.subarray(0, -1),
      bytes.subarray(0, -TRAILER_BYTES),
      Buffer.concat([bytes, Buffer.from('x')]),
    ]) {
      const { code, stderr } = await restore(content)
      expect([code, stderr]).toEqual([1, expect.stringContaining('authenticate')])
    }
  })

  test('of which only the untouched one is restored', async () => {
    expect(await restore(bytes)).toMatchObject({ code: 0, stdout: expect.stringContaining('authenticated by the master key') })
  })
})
