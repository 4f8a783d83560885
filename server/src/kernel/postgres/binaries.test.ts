import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { linkLibraries } from './binaries.ts'

test('creates the library symlinks when the install script did not run', async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-binaries-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'native/lib'), { recursive: true })
  await writeFile(join(folder, 'native/lib/libpq.so.5.18'), 'the library')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(links))
  linkLibraries(folder)
  linkLibraries(folder)
  expect(await readFile(join(folder, 'native/lib/libpq.so.5'), 'utf8')).toBe('the library')
})
