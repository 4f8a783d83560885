import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, violations, type Files } from './architecture.ts'

const SERVER = join(import.meta.dirname, '..')

const read = (): Files =>
  new Map(globSync('{src,test}/**/*.ts', { cwd: SERVER }).map((path) => [path, readFileSync(join(SERVER, path), 'utf8')]))

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
