import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
// Inside of the repository, so that the tests below find vitest.
const folder = mkdtempSync(join(root, 'node_modules/.skip-reporter-'))
afterAll(() => rmSync(folder, { recursive: true }))

writeFileSync(
  join(folder, 'sample.test.ts'),
  `import { expect, test } from 'vitest'
   import { describeIf } from '${root}/libvirt/test/describe-if.ts'
   describeIf('not installed: redis-server')('Redis', () => { throw new Error('collected') })
   describeIf(undefined)('PostgreSQL', () => { test('runs', () => expect(1).toBe(1)) })
   test('root', ({ skip }) => skip(true, 'needs root'))
   test.skip('forgotten', () => {})`,
)
writeFileSync(
  join(folder, 'vitest.config.ts'),
  `export default { test: { include: ['*.test.ts'], reporters: ['${root}/ops/skip-reporter.ts'] } }`,
)

function run(ci: string, ...args: string[]): Promise<{ code: number; stdout: string }> {
  const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...args]
  return new Promise((resolve) =>
    execFile(process.execPath, command, { cwd: folder, env: { ...process.env, CI: ci, NO_COLOR: '1' } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout: stdout + stderr }),
    ),
  )
}

test('skipped tests are listed with their reasons', async () => {
  const { code, stdout } = await run('')
  expect(stdout).toContain(' Skipped:\n')
  expect(stdout).toContain('sample.test.ts: Redis > all tests (not installed: redis-server)\n')
  expect(stdout).toContain('sample.test.ts: root (needs root)\n')
  expect(stdout).toContain('sample.test.ts: forgotten (no reason given)\n')
  expect(stdout).not.toContain('PostgreSQL')
  expect(code).toBe(0)
})

test('in CI a skipped test fails the run, and a run without skips passes', async () => {
  const failed = await run('true')
  expect(failed.stdout).toContain(' Skipped, which CI does not allow:\n')
  expect(failed.code).toBe(1)
  expect(await run('true', '-t', 'PostgreSQL')).toMatchObject({ code: 0 })
})
