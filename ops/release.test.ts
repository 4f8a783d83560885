// On a clone in a temporary folder. Packing itself is tested by packages.prove.ts; here it is replaced by writing two files.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { release } from './release.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'berth-release-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const tag = `v${version}`

const clone = join(folder, 'clone')
let base: string
const git = (...args: string[]): string => execFileSync('git', args, { cwd: clone, encoding: 'utf8', stdio: 'pipe' }).trim()
const edit = (path: string, change: (text: string) => string): void =>
  writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')))
const commit = (): string => git('commit', '--quiet', '--all', '--allow-empty', '--message', 'test: change')

function pack(into: string): string[] {
  writeFileSync(join(into, 'b.tgz'), 'second')
  writeFileSync(join(into, 'a.tgz'), 'first')
  return ['b.tgz', 'a.tgz']
}

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', '--no-tags', '--depth=1', `file://${root}`, clone], { stdio: 'pipe' })
  git('config', 'user.name', 'Test')
  git('config', 'user.email', 'test@example.com')
  // The working copies, which may not be committed yet.
  for (const path of ['CHANGELOG.md', '.gitignore']) edit(path, () => readFileSync(join(root, path), 'utf8'))
  commit()
  base = git('rev-parse', 'HEAD')
})

beforeEach(() => {
  git('reset', '--quiet', '--hard', base)
  if (git('tag', '--list', tag)) git('tag', '--delete', tag)
})

test('packages are written with checksums that sha256sum accepts, and the commit is tagged', async () => {
  const files = await release(clone, pack)
  expect(files).toEqual(['a.tgz', 'b.tgz', 'SHA256SUMS'].map((name) => join(clone, 'release', version, name)))
  const check = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(clone, 'release', version), encoding: 'utf8' })
  expect(check).toBe('a.tgz: OK\nb.tgz: OK\n')
  expect(git('cat-file', '-t', tag)).toBe('tag')
  expect(git('rev-list', '-n', '1', tag)).toBe(git('rev-parse', 'HEAD'))
  expect(git('tag', '--list', '--format=%(contents:subject)')).toBe(`Berth ${version}`)
  expect(git('status', '--porcelain')).toBe('')
})

test('a second run on the same commit rebuilds the packages, one on another commit is refused', async () => {
  await release(clone, pack)
  await release(clone, pack)
  const first = git('rev-parse', 'HEAD')
  commit()
  await expect(release(clone, pack)).rejects.toThrow(`The tag ${tag} exists on ${first.slice(0, 12)}`)
  expect(git('rev-list', '-n', '1', tag)).toBe(first)
})

test.each<[string, string, (text: string) => string, string]>([
  ['an unfinished changelog', 'CHANGELOG.md', (text) => text.replace(`## [${version}]`, '## [Unreleased]'), `no section for ${version}`],
  ['a section without a date', 'CHANGELOG.md', (text) => text.replace(/^(## \[\S+\]) - .*$/m, '$1'), 'has no date'],
  ['a package of another version', 'sdk/package.json', (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9"'), '9.9.9'],
  [
    'a dependency on another version',
    'cli/package.json',
    (text) => text.replace(/("@berth\/sdk": )"[^"]+"/, '$1"9.9.9"'),
    '@berth/sdk 9.9.9',
  ],
])('%s is refused', async (_, path, change, message) => {
  edit(path, change)
  commit()
  await expect(release(clone, pack)).rejects.toThrow(message)
  expect(git('tag', '--list')).toBe('')
})

test('uncommitted changes are refused', async () => {
  edit('README.md', (text) => `${text}\n`)
  await expect(release(clone, pack)).rejects.toThrow('uncommitted changes')
  expect(git('tag', '--list')).toBe('')
})
