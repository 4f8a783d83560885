import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { circles, importsOf, violations, walkFaults, type Files } from './architecture.ts'

const SERVER = join(import.meta.dirname, '..')
const PROJECT = join(SERVER, '..')

const read = (): Files =>
  new Map(globSync('{src,test}/**/*.ts', { cwd: SERVER }).map((path) => [path, readFileSync(join(SERVER, path), 'utf8')]))

const readProject = (): Files =>
  new Map(
    globSync('{server,libvirt,ovsdb,sdk,cli,web}/src/**/*.{ts,tsx}', { cwd: PROJECT }).map((path) => [
      path,
      readFileSync(join(PROJECT, path), 'utf8'),
    ]),
  )

/** This test quotes what it forbids. */
const ITSELF = ['test/architecture.ts', 'test/architecture.test.ts']

describe('the architecture', () => {
  const files = read()
  for (const path of ITSELF) files.delete(path)

  test('is kept by every file', () => {
    expect(files.size).toBeGreaterThan(100)
    expect(violations(files)).toEqual([])
  })

  test('is read from every kind of import', () => {
    const source = [
      "import { a } from './a.ts'",
      "import type { b } from './b.ts'",
      "import {\n  c,\n  d,\n} from './c.ts'",
      "export { e } from './e.ts'",
      "export type { f } from './f.ts'",
      "import './g.ts'",
      "const h = await import('./h.ts')",
      "new Worker(new URL('./i.ts', import.meta.url))",
      "import * as j from './j.ts'",
    ].join('\n')
    const found = importsOf(source).map(({ from, isType }) => `${from}${isType ? ' as a type' : ''}`)
    const expected = ['./a.ts', './b.ts as a type', './c.ts', './e.ts', './f.ts as a type', './g.ts', './h.ts', './i.ts', './j.ts']
    expect(found.toSorted()).toEqual(expected)
  })

  test.each([
    ['src/kernel/x.ts', "import { Api } from '../http/api/api.ts'", 'kernel may not import http'],
    ['src/http/x.ts', "import { getVm } from '../features/vms/service.ts'", 'http may not import features'],
    ['src/http/x.ts', "import { start } from '../workflow/executor.ts'", 'http may not import workflow'],
    ['src/workflow/x.ts', "import type { Config } from '../config.ts'", 'workflow may not import config.ts'],
    ['src/hypervisor/x.ts', "const x = await import('../features/deps.ts')", 'hypervisor may not import features'],
    ['src/hypervisor/simulated/x.ts', "import { connect } from '@berth/libvirt'", 'only hypervisor/libvirt may'],
    ['src/features/vms/x.ts', "import { connect } from '@berth/libvirt'", 'only hypervisor/libvirt may'],
    ['src/features/vms/x.ts', "import { openApi } from '../../compose.ts'", 'features may not import compose.ts'],
    ['src/features/vms/x.ts', "import { readConfig } from '../../config.ts'", 'settings are handed to features'],
    ['src/features/wallet/x.ts', "import { getVm } from '../vms/service.ts'", 'vms is not left of wallet'],
    ['src/features/vms/x.ts', "import * as sql from '../wallet/sql.ts'", 'wallet is reached through its service.ts'],
    ['src/features/billing/x.ts', "import { createVm } from '../vms/actions/create.ts'", 'vms is reached through its service.ts'],
    ['src/features/vms/model/x.ts', "import { start } from '../actions/power.ts'", 'in src/features/vms the order is'],
    ['src/features/vms/actions/x.ts', "import type { x } from '../routes.ts'", 'in src/features/vms the order is'],
    ['src/kernel/x.ts', "import { sql } from './database/db.ts'", 'in src/kernel the order is'],
    ['src/http/api/x.ts', "import { page } from '../server/html-page.ts'", 'in src/http the order is'],
    ['src/hypervisor/libvirt/machine/x.ts', "import { x } from '../monitoring/stats.ts'", 'in src/hypervisor/libvirt the order is'],
    ['src/commands/output.ts', "import { adminCommand } from './admin-command.ts'", 'in src/commands the order is'],
    ['src/features/new/service.ts', "import { x } from '../newer/service.ts'", 'give newer its place in the order'],
    ['src/features/vms/schema.ts', "import { sql } from '../../kernel/database/db.ts'", 'a schema imports nothing but'],
    ['src/commands/x.ts', "import * as sql from '../features/wallet/sql.ts'", 'wallet is reached through its service.ts'],
    ['src/compose.ts', "import { run } from './commands/program.ts'", 'compose.ts may not import commands'],
    ['src/http/x.ts', "import { testApp } from '../../test/harness.ts'", 'knows nothing of its tests'],
    ['src/features/vms/x.ts', "import { testCrashSafety } from '../../workflow/testing.ts'", 'knows nothing of its tests'],
    ['src/kernel/x.ts', "const home = process.env['HOME']", 'reads the environment'],
    ['test/x.test.ts', 'process.env.CI', 'reads the environment'],
    ['src/http/x.ts', 'const now = Date.now()', 'reads the time'],
    ['src/features/vms/x.ts', 'const now = new Date()', 'reads the time'],
    ['src/workflow/x.ts', 'performance.now()', 'reads the time'],
    ['src/kernel/x.ts', '// counts VMs', 'speaks of the business'],
    ['src/workflow/x.ts', 'const vmId = 1', 'speaks of the business'],
    ['src/features/vms/x.ts', 'const hooks: (() => void)[] = []', 'a hook is a member of Deps'],
    ['src/features/vms/x.ts', 'export const hooks: Hook[] = []', 'a hook is a member of Deps'],
    ['src/features/vms/routes.ts', 'db.run(sql`delete from vms`)', 'holds SQL or a try'],
    ['src/features/vms/routes.ts', 'try {', 'holds SQL or a try'],
    ['src/features/vms/service.ts', "import type { FastifyRequest } from 'fastify'", 'knows the HTTP framework'],
    ['src/features/vms/view.ts', 'db.many(sql`select 1`)', 'a view turns a row into a wire shape'],
  ])('is broken by %s: %s', (path, source, sentence) => {
    expect(violations(new Map([[path, source]])).join('\n')).toContain(sentence)
  })

  test.each([
    ['src/http/x.ts', "import { sql } from '../kernel/database/db.ts'"],
    ['src/hypervisor/libvirt/x.ts', "import { connect } from '@berth/libvirt'"],
    ['src/features/vms/x.ts', "import type { Config } from '../../config.ts'"],
    ['src/features/vms/x.ts', "import { charge } from '../wallet/service.ts'\nimport * as sql from './sql.ts'"],
    ['src/features/vms/x.ts', 'const at = new Date(value)'],
    ['src/features/vms/x.test.ts', "import { testApp } from '../../../test/harness.ts'"],
  ])('allows %s: %s', (path, source) => {
    expect(violations(new Map([[path, source]]))).toEqual([])
  })
})

describe('imports', () => {
  test('lead nowhere in a circle, types included', () => {
    const files = readProject()
    expect(files.size).toBeGreaterThan(500)
    expect(circles(files)).toEqual([])
  })

  test.each([
    [{ 'a/x.ts': "import type { y } from './y.ts'", 'a/y.ts': "import { x } from './x.ts'" }, 'a/x.ts → a/y.ts → a/x.ts'],
    [{ 'a/x.tsx': "const y = await import('./x.tsx')" }, 'a/x.tsx → a/x.tsx'],
    [
      { 'a/x.ts': "export { y } from './b/y.ts'", 'a/b/y.ts': "import './z.ts'", 'a/b/z.ts': "import * as x from '../x.ts'" },
      'a/x.ts → a/b/y.ts → a/b/z.ts → a/x.ts',
    ],
  ])('are caught in %j', (files, circle) => {
    expect(circles(new Map(Object.entries(files)))).toEqual([circle])
  })

  test('that meet again are no circle', () => {
    const files = { 'x.ts': "import './y.ts'\nimport './z.ts'", 'y.ts': "import './z.ts'", 'z.ts': '' }
    expect(circles(new Map(Object.entries(files)))).toEqual([])
  })
})

describe('the way of POST /vms', () => {
  const HEADING = '## POST /vms, file by file'

  test('is as ARCHITECTURE.md describes it, in at most 20 files', () => {
    const text = readFileSync(join(PROJECT, 'ARCHITECTURE.md'), 'utf8')
    const section = text.split(`${HEADING}\n`)[1]!.split('\n## ')[0]!
    const lines = section.split('\n').filter((line) => /^\d+\. /.test(line))
    expect(walkFaults(lines, readProject())).toEqual([])
    expect(lines.length).toBeGreaterThan(10)
    expect(lines.length).toBeLessThanOrEqual(20)
  })

  const first = '1. `a.ts`: begins. The server calls it.'
  test.each([
    ['2. `gone.ts`: goes on. 1 imports it.', 'gone.ts does not exist'],
    ['2. `c.ts`: goes on. 1 imports it.', 'not true that 1 imports it'],
    ['2. `b.ts`: goes on. 2 imports it.', 'not true that 2 imports it'],
    ['2. `b.ts`: goes on. 1 calls `ensureDisk` of it.', 'not true that 1 calls'],
    ['2. `b.ts`: goes on.', 'only 1 of 2 lines'],
  ])('would not be: %s', (line, fault) => {
    const files = new Map(Object.entries({ 'a.ts': "import './b.ts'", 'b.ts': '', 'c.ts': '' }))
    expect(walkFaults([first, line], files).join()).toContain(fault)
    expect(walkFaults([first, '2. `b.ts`: goes on. 1 imports it.'], files)).toEqual([])
  })
})
