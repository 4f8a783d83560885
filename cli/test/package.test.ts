// The packages as they are published, installed in an empty folder: whoever has nothing else of ours can use them.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { plainNode } from '../../sdk/test/packed.ts'
import { VERSION } from '../src/version.ts'
import { cliWorld } from './world.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'berth-installed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const app = await cliWorld()

interface Packed {
  filename: string
  files: { path: string }[]
}

async function install(workspace: string): Promise<string[]> {
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: join(root, workspace), env })
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [Packed]
  const target = join(folder, 'node_modules/@berth', workspace)
  mkdirSync(target, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1'])
  return files.map(({ path }) => path)
}

test('berth runs from its package, with the Node of the machine', { timeout: 180_000 }, async () => {
  const files = await install('cli')
  expect(files.filter((path) => !/^(package\.json|README\.md|bin\/berth\.mjs|dist\/[\w/-]+\.js)$/.test(path))).toEqual([])
  await install('sdk')
  for (const name of ['commander', 'ws']) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'program.mjs'), `import { Berth, VERSION } from '@berth/sdk'\nconsole.log(VERSION, typeof Berth)\n`)
  const berth = join(folder, 'node_modules/@berth/cli/bin/berth.mjs')

  expect((await run(plainNode(), [berth, '--version'])).stdout).toBe(`${VERSION}\n`)
  expect((await run(plainNode(), [join(folder, 'program.mjs')])).stdout).toBe(`${VERSION} function\n`)
  const customer = await app.given.customer()
  expect((await run(plainNode(), [berth, 'account', 'show', '-o', 'name'], { env: app.envOf(customer) })).stdout).toBe(
    `${customer.email}\n`,
  )
})
