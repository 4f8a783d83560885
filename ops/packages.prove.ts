// All packages as published, installed by npm into an empty folder, and run from there.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pack, plainNode, type Packed } from '../sdk/test/packed-package.ts'
import { freePort } from '../server/test/free-port.ts'
import { cleanEnvironment, service } from '../server/test/processes.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string }
const folder = mkdtempSync(join(tmpdir(), 'berth-installed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = { HOME: folder, BERTH_PORT: await freePort(), BERTH_METRICS_PORT: '0' }
const run = (program: string, ...args: string[]) =>
  promisify(execFile)(program, args, { cwd: folder, env: { ...cleanEnvironment(), ...settings } })
const installed = (path: string): string => join(folder, 'node_modules', path)
const berth = (...args: string[]) => run(plainNode(), installed('.bin/berth'), ...args)

let packages: Packed[]
beforeAll(async () => {
  packages = await pack(folder)
  const tarballs = packages.map(({ filename }) => join(folder, filename))
  const env = { ...process.env, npm_config_update_notifier: 'false' } // keeps npm's cache
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs]
  await promisify(execFile)('npm', args, { cwd: folder, env })
}, 600_000)

const filesOf = (name: string) => packages.find((each) => each.name === name)!.files
const pathsOf = (name: string): string[] => filesOf(name).map(({ path }) => path)
const filesIn = (path: string): string[] =>
  readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, path).length + 1))

test('every workspace is packed, as JavaScript without sources', () => {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] }
  expect(packages.map(({ name }) => name).sort()).toEqual(workspaces.map((name) => `@berth/${name}`).sort())
  for (const { files } of packages)
    expect(files.filter(({ path }) => /(?<!\.d)\.tsx?$|(^|\/)(src|test|node_modules)\//.test(path))).toEqual([])
})

test('the CLI package contains JavaScript only', () => {
  expect(pathsOf('@berth/cli').filter((path) => !/^(package\.json|README\.md|bin\/berth\.mjs|dist\/[\w/-]+\.js)$/.test(path))).toEqual([])
})

test('the server package contains all files it reads', () => {
  const read = [
    ...filesIn('server/migrations').map((path) => `migrations/${path}`),
    ...filesIn('docs').map((path) => `dist/docs/${path}`),
    ...filesIn('openapi').map((path) => `dist/openapi/${path}`),
    ...filesIn('server/src')
      .filter((path) => !path.endsWith('.ts'))
      .map((path) => `dist/${path}`),
    'bin/berthd.mjs',
    'catalog.json',
  ]
  expect(read.length).toBeGreaterThan(100)
  expect(pathsOf('@berth/server')).toEqual(expect.arrayContaining(read))
  expect(pathsOf('@berth/web')).toEqual(expect.arrayContaining(['dist/index.html', 'dist/favicon.svg']))
})

test('scripts for images stay executable in the package', () => {
  const scripts = filesIn('server/src').filter((path) => statSync(join(root, 'server/src', path)).mode & 0o100)
  expect(scripts.length).toBeGreaterThan(0)
  for (const path of scripts) expect(statSync(installed(`@berth/server/dist/${path}`)).mode & 0o111).toBe(0o111)
})

test('the clients run with the system Node', async () => {
  expect((await berth('--version')).stdout).toBe(`${version}\n`)
  writeFileSync(join(folder, 'sdk.mjs'), `import { Berth, VERSION } from '@berth/sdk'\nconsole.log(VERSION, typeof Berth)\n`)
  expect((await run(plainNode(), 'sdk.mjs')).stdout).toBe(`${version} function\n`)
  writeFileSync(join(folder, 'libvirt.mjs'), `import { Host } from '@berth/libvirt'\nconsole.log(typeof Host)\n`)
  expect((await run(process.execPath, 'libvirt.mjs')).stdout).toBe('function\n')
})

test('the server runs, and the CLI creates and stops a VM', { timeout: 300_000 }, async () => {
  const up = await service(settings, 'up', installed('.bin/berthd'))
  expect(readdirSync(join(folder, '.berth'))).toContain('postgres')
  for (const path of [
    '/',
    '/docs',
    '/docs/files/try.js',
    '/docs/guides',
    '/docs/guide/tutorial',
    '/docs/reference/wallet',
    '/docs/operate/files/alerts.yaml',
  ])
    expect([path, (await fetch(new URL(path, up.url))).status]).toEqual([path, 200])

  expect((await run(process.execPath, installed('.bin/berthd'), 'quickstart')).stdout).toContain('first is RUNNING')
  await berth('vm', 'create', 'web-1', '--os', 'debian-12')
  expect((await berth('vm', 'list', '-o', 'name')).stdout.split('\n').sort()).toEqual(['', 'first', 'web-1'])
  await berth('vm', 'stop', 'web-1')
  expect(JSON.parse((await berth('vm', 'get', 'web-1', '-o', 'json')).stdout)).toMatchObject({ status: 'STOPPED' })
  expect(await up.kill('SIGTERM')).toBe(0)
})
