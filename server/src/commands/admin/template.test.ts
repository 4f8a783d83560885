import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { foreignArch, nativeArch } from '../../kernel/arch.ts'
import { testDatabase } from '../../../test/harness.ts'
import {
  BERTHD,
  quickBerthd as berthd,
  quickBerthdJson as berthdJson,
  cleanEnvironment,
  type Outcome,
  type Settings,
} from '../../../test/processes.ts'

let settings: Settings
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-templates-'))
  settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: dataDir }
  const disk = Buffer.alloc(2 * 1024 ** 2)
  disk.writeUInt16BE(0x55aa, 510)
  await writeFile(join(dataDir, 'disk.raw'), disk)
})
afterAll(() => rm(dataDir, { recursive: true }))

const run = (...args: string[]): Promise<Outcome> => berthd(settings, 'template', ...args)
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => berthdJson<T>(settings, 'template', ...args)

describe('berthd template', { timeout: 120_000 }, () => {
  test('imports a file, lists it, and removes it', async () => {
    const file = join(dataDir, 'disk.raw')
    const made = await json('import', 'mine', '--file', file, '--name', 'Mine', '--user', 'admin', '--arch', 'x86_64')
    expect(made).toMatchObject({ slug: 'mine', arch: 'x86_64', virtualBytes: 2 * 1024 ** 2, origin: 'disk.raw' })
    expect(await readdir(join(dataDir, 'images'))).toEqual([`${String(made['checksum']).replace('sha256:', '')}.qcow2`])
    const rows = await json<{ slug: string; state: string; next: string | null }[]>('list')
    expect(rows.find(({ slug }) => slug === 'mine')).toMatchObject({ state: 'available', here: true, targets: [], next: null })
    expect((await run('list')).stdout).toMatch(/mine .* available +this machine +disk\.raw/)
    settings['BERTH_IMAGES_DIR'] = join(dataDir, 'elsewhere')
    expect((await run('list')).stdout).toMatch(/mine .* image lost +nowhere +disk\.raw/)
    delete settings['BERTH_IMAGES_DIR']
    expect(rows.find(({ slug }) => slug === 'tiny')).toMatchObject({ state: 'simulated', next: 'npx berthd template build tiny' })
    expect(await json('remove', 'mine', '--yes')).toMatchObject({ removed: true })
    expect(await readdir(join(dataDir, 'images'))).toEqual([])
  })

  test('gives a template of the catalog a twin for the other architecture', async () => {
    const [arch, file] = [foreignArch(), join(dataDir, 'disk.raw')]
    const slug = `tiny-${arch.replace('_', '-')}`
    const made = await json('import', 'tiny', '--arch', arch, '--file', file)
    expect(made).toMatchObject({ slug, name: `Tiny Linux (${arch})`, arch })
    const found = (await json<{ slug: string; arch: string; state: string }[]>('list')).filter((row) => row.slug.startsWith('tiny'))
    expect(found.map((row) => [row.slug, row.arch, row.state])).toEqual([
      ['tiny', nativeArch(), 'simulated'],
      [slug, arch, 'available'],
    ])
    expect(await json('import', 'tiny', '--arch', arch, '--file', file)).toMatchObject({ id: made['id'], slug })
    expect((await run('build', 'tiny', '--arch', 'arm')).stderr).toContain('--arch must be x86_64 or aarch64, not "arm"')
    await json('remove', slug, '--yes')
  })

  test('reports missing and invalid options', async () => {
    const refused = await Promise.all([
      run('import', 'unknown', '--file', join(dataDir, 'disk.raw')),
      run('import', 'tiny'),
      run('import', 'mine2', '--name', 'x', '--file', '/x', '--url', 'https://example.invalid/x'),
      run('import', 'debian-13', '--checksum', 'abc'),
      run('build', 'debian-13'),
      run('remove', 'nothing', '--yes'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 1, 1])
    expect(refused.map(({ stderr }) => stderr.trim())).toEqual([
      'OS template unknown is not in the catalog. To add it, give at least --name',
      'The catalog has no image URL for this template: give --url or --file',
      'Give either --url or --file',
      '"abc" is not a checksum: give 64 hex digits of sha256 or 128 of sha512',
      'OS template debian-13 has no build recipe. Import its image: npx berthd template import debian-13',
      'OS template not found',
    ])
  })
})

const cannotMount = spawnSync('unshare', ['-m', 'true']).status === 0 ? undefined : 'needs root'

describeIf(cannotMount)('berthd template on a full disk', { timeout: 120_000 }, () => {
  test('imports nothing while less than the reserve of the image folder is free', async () => {
    const images = join(dataDir, 'full')
    await mkdir(images)
    // In a mount namespace of its own, with a small file system that is nearly full.
    const script = `mount -t tmpfs -o size=64m tmpfs '${images}'; fallocate -l "$1" '${images}/other'; shift; "$@"; code=$?; ls '${images}'; exit $code`
    const args = [process.execPath, BERTHD, 'template', 'import', 'kept', '--file', join(dataDir, 'disk.raw'), '--name', 'Kept']
    const attempt = (taken: string) =>
      spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', taken, ...args], {
        env: { ...cleanEnvironment(), ...settings, BERTH_IMAGES_DIR: images },
        encoding: 'utf8',
      })
    const full = attempt('62m')
    expect([full.status, full.stdout.trim()]).toEqual([1, 'other'])
    expect(full.stderr).toContain(
      `Only 0.0 GiB are free for images in ${images}, less than the reserve of 0.0 GiB: free some space on that disk first`,
    )
    expect(attempt('40m')).toMatchObject({ status: 0, stdout: expect.stringContaining('is available') })
  })
})
