// Checks the deployment files: systemd accepts the units and rates their sandboxing, and the container files use existing settings and
// commands. Container images are not built: that needs an engine and a registry.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { missingCommands } from '../libvirt/test/command.ts'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { SETTINGS } from '../server/src/config.ts'
import { createProgram } from '../server/src/commands/program.ts'
import { anchorOf } from '../server/src/http/docs/markdown.ts'
import { createMetrics } from '../server/src/kernel/metrics.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const units = readdirSync(join(root, 'ops/systemd'))
const commands = new Set(createProgram(false).commands.map((command) => command.name()))
const settings = new Set(Object.values(SETTINGS).map(({ variable }) => variable))

/** systemd would complain about the missing installation. */
const folder = mkdtempSync(join(tmpdir(), 'berth-units-'))
afterAll(() => rmSync(folder, { recursive: true }))
for (const unit of units) writeFileSync(join(folder, unit), read(`ops/systemd/${unit}`).replaceAll('/usr/bin/node', '/bin/true'))
const paths = units.map((unit) => join(folder, unit))

describeIf(missingCommands('systemd-analyze'))('systemd-analyze', () => {
  test('accepts the units without a message', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' })
  })

  test.each(paths.filter((path) => path.endsWith('.service')))('rates the exposure of %s below 2 of 10', (path) => {
    const said = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' })
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(2)
  })
})

describe('the systemd units', () => {
  test('run existing commands', () => {
    for (const unit of units.filter((each) => each.endsWith('.service')))
      expect(commands).toContain(/^ExecStart=.*berthd\.mjs (\w+)$/m.exec(read(`ops/systemd/${unit}`))?.[1])
  })

  test('start eventually when the database does', () => {
    for (const unit of units.filter((each) => each.endsWith('.service'))) {
      expect(read(`ops/systemd/${unit}`)).toMatch(/^StartLimitIntervalSec=0$[^]*^\[Service\]$[^]*^Restart=(always|on-failure)$/m)
      expect(read(`ops/systemd/${unit}`)).not.toMatch(/^(Requires|BindsTo|Requisite)=/m)
    }
  })

  test('use the same user, settings, data and program as ops/berthd', () => {
    const wrapper = read('ops/berthd')
    for (const unit of units.filter((each) => each.endsWith('.service'))) {
      const valueOf = (pattern: RegExp): string => pattern.exec(read(`ops/systemd/${unit}`))![1]!
      expect(wrapper).toContain(`runuser -u ${valueOf(/^User=(.+)$/m)} -- env ${valueOf(/^Environment=(BERTH_DATA_DIR=.+)$/m)} `)
      expect(wrapper).toContain(`--env-file=${valueOf(/^EnvironmentFile=-(.+)$/m)} ${valueOf(/^ExecStart=.* (\S+) \w+$/m)} `)
    }
  })
})

describe.each(['ops/Containerfile', 'ops/compose.yaml'])('%s', (path) => {
  test('uses only existing settings and commands', () => {
    const text = read(path)
    for (const [variable] of text.matchAll(/\bBERTH_[A-Z_]+\b/g)) expect(settings).toContain(variable)
    for (const [, command] of text.matchAll(/^ *(?:CMD|command:) \["?([a-z]+)"?\]$/gm)) expect(commands).toContain(command)
  })
})

test('the container file copies the manifest of every workspace for npm ci', () => {
  const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] }
  for (const name of workspaces) expect(read('ops/Containerfile')).toContain(`COPY ${name}/package.json ${name}/\n`)
})

test('the image has the programs of its commands, and .dockerignore excludes untracked files', () => {
  expect(read('ops/Containerfile')).toMatch(/apt-get install [^&]*\bopenssl qemu-utils\b/)
  const ignored = read('.dockerignore').split('\n')
  expect(ignored).toContain('.git')
  for (const line of read('.gitignore').trim().split('\n')) expect(ignored).toContain(`**/${line.replace(/\/$/, '')}`)
})

test('a migration that breaks the previous version is named in upgrades.md', () => {
  const breaking = /\bdrop (?!index|constraint|view)|\brename\b|\bset not null\b|\badd column (?![^,;]*\bdefault\b)[^,;]*\bnot null\b/i
  const more = readdirSync(join(root, 'server/migrations')).filter(
    (name) => name > '0028' && breaking.test(read(`server/migrations/${name}`)),
  )
  expect(more.length).toBeGreaterThan(0)
  for (const name of more) expect(read('docs/operate/upgrades.md')).toContain(name.replace('.sql', ''))
})

describe('alerts and dashboards', () => {
  const metrics = createMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
  const files = ['alerts.yaml', 'grafana.json'].map((name) => read(`docs/operate/files/${name}`))

  test('use existing metrics', () => {
    const asked = files.flatMap((text) =>
      [...text.matchAll(/\b(?:berth|process)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
    )
    expect(asked.length).toBeGreaterThan(15)
    for (const name of asked) expect(metrics).toContain(name)
    expect(JSON.parse(files[1]!)).toMatchObject({ title: 'Berth' })
  })

  test('link an existing runbook for each alert', () => {
    const runbooks = [...read('docs/operate/runbooks.md').matchAll(/^## (.+)$/gm)].map(([, title]) => anchorOf(title!))
    const named = [...files[0]!.matchAll(/runbook: \/docs\/operate\/runbooks#(.+)$/gm)].map(([, anchor]) => anchor!)
    expect(named.length).toBe(files[0]!.match(/- alert: /g)!.length)
    for (const anchor of named) expect(runbooks).toContain(anchor)
  })
})
