// The Debian package without its programs, which take npm and a minute: deb.prove.ts installs the whole.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { SETTINGS } from '../../server/src/config.ts'
import { buildFrom, stageSystemFiles } from './build.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-deb-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const source = { root: join(import.meta.dirname, '../..'), version: '1.2.3-rc.1', epochSeconds: 1_700_000_000 }

function build(name: string): { stage: string; file: string } {
  const [stage, file] = [join(folder, name), join(folder, `${name}.deb`)]
  mkdirSync(stage)
  stageSystemFiles(source, stage)
  buildFrom(stage, source, 'arm64', file, 'gzip')
  return { stage, file }
}
const { stage, file } = build('first')
const read = (path: string): string => readFileSync(join(stage, path), 'utf8')
const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })

test('what is built twice is the same file', () => {
  const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
  expect(hash(build('second').file)).toBe(hash(file))
})

test('everything belongs to root, and the fields are what apt expects', () => {
  const lines = run('dpkg-deb', '--contents', file).trim().split('\n')
  expect(lines.filter((line) => !/^[-dl][rwx-]+ root\/root /.test(line))).toEqual([])
  expect(lines.filter((line) => !line.includes(' 2023-11-14 '))).toEqual([])
  expect(run('dpkg-deb', '--field', file, 'Package', 'Version', 'Architecture')).toBe(
    'Package: berth\nVersion: 1.2.3~rc.1\nArchitecture: arm64\n',
  )
  expect(run('dpkg-deb', '--ctrl-tarfile', file).length).toBeGreaterThan(0)
  expect(spawnSync('dpkg', ['--compare-versions', '1.2.3~rc.1', 'lt', '1.2.3']).status).toBe(0)
})

test.each(['usr/bin/berth', 'usr/bin/berthd', 'DEBIAN/postinst', 'DEBIAN/prerm', 'DEBIAN/postrm'])('%s is a script of sh', (path) =>
  expect(spawnSync('sh', ['-n', join(stage, path)], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' }),
)

test('a new installation has every setting, as a comment', () => {
  const text = read('usr/share/berth/berth.env')
  expect(parseEnv(text)).toEqual({})
  const named = [...text.matchAll(/^#(BERTH_[A-Z_]+)=/gm)].map(([, name]) => name)
  const settings = Object.values(SETTINGS).map(({ variable }) => variable)
  expect(settings.filter((name) => !named.includes(name))).toEqual(['BERTH_DATA_DIR', 'BERTH_WEB_DIR'])
  expect(text).not.toContain(source.root)
})

test('units and wrapper run the pinned Node with the same program, settings and data', () => {
  const wrapper = read('usr/bin/berthd')
  for (const unit of readdirSync(join(stage, 'usr/lib/systemd/system')).filter((name) => name.endsWith('.service'))) {
    const text = read(`usr/lib/systemd/system/${unit}`)
    const [, node, program] = /^ExecStart=(\S+) .*?(\S+\.mjs) \w+$/m.exec(text)!
    expect(wrapper).toContain(`node=${node}\nprogram=${program}\nsettings=${/^EnvironmentFile=-(.+)$/m.exec(text)![1]}\n`)
    expect(wrapper).toContain(`export ${/^Environment=(BERTH_DATA_DIR=\S+ NODE_ENV=\S+) /m.exec(text)![1]}`)
  }
})

describeIf(missingCommands('systemd-analyze'))('the units of the package', () => {
  const units = readdirSync(join(stage, 'usr/lib/systemd/system')).filter((name) => name.endsWith('.service'))
  test.each(units)('%s is rated below 2 of 10', (unit) => {
    const report = run('systemd-analyze', 'security', '--offline=true', join(stage, 'usr/lib/systemd/system', unit))
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(report)?.[1])).toBeLessThan(2)
  })
})

describe('manual pages', () => {
  const page = (path: string): string => gunzipSync(readFileSync(join(stage, path))).toString()

  test('name every command, with its options and example', () => {
    const berthd = page('usr/share/man/man8/berthd.8.gz')
    expect(berthd).toContain('.TH BERTHD 8 2023-11-14 "Berth 1.2.3-rc.1"')
    expect(berthd).toContain('.SS "berthd host add')
    expect(berthd).toContain('.B \\-\\-local\\-database\n')
    expect(berthd).toContain('sudo berthd setup \\-\\-domain')
    expect(berthd).toContain('.B BERTH_PUBLIC_URL\n')
    expect(berthd).not.toContain('npx')
    expect(page('usr/share/man/man1/berth.1.gz')).toContain('.SS "berth vm create')
  })
})

describeIf(missingCommands('man', 'groff'))('man', () => {
  test.each(['man1/berth.1.gz', 'man8/berthd.8.gz'])('reads %s without a warning', (path) => {
    const env = { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8' }
    const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', join(stage, 'usr/share/man', path)], {
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 24,
    })
    expect(stderr).toBe('')
    expect(stdout).toContain('COMMANDS')
  })
})

describe('completion in bash', () => {
  const complete = (line: string): string[] => {
    const words = line.split(' ')
    const script = `source ${join(stage, 'usr/share/bash-completion/completions/berthd')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _berthd; printf '%s\\n' "\${COMPREPLY[@]}"`
    return run('bash', '-euc', script).trim().split('\n')
  }

  test('knows commands, their commands and options', () => {
    expect(complete('berthd set')).toEqual(['setup'])
    expect(complete('berthd host ad')).toEqual(['add'])
    expect(complete('berthd host add qemu+tls://x/system --ra')).toContain('--range')
    expect(complete('berthd setup --loc')).toEqual(['--local-database'])
  })
})

test('zsh and fish get the same words', () => {
  for (const path of ['zsh/vendor-completions/_berthd', 'fish/vendor_completions.d/berthd.fish'])
    for (const word of ['setup', 'local-database', 'host prepare']) expect(read(`usr/share/${path}`)).toContain(word)
})
