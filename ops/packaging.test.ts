// systemd units, compose file and monitoring files: valid, sandboxed, and consistent with the commands, settings and metrics of the
// server. The image is built and run by oci.prove.ts.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { missingCommands } from '../libvirt/test/command.ts'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { SETTINGS } from '../server/src/config.ts'
import { CLOSE_TIMEOUT_MS } from '../server/src/commands/process/lifecycle.ts'
import { createProgram } from '../server/src/commands/program.ts'
import { anchorOf } from '../server/src/http/docs/markdown.ts'
import { isContract } from '../server/src/kernel/database/migrate.ts'
import { createMetrics } from '../server/src/kernel/metrics.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const units = readdirSync(join(root, 'ops/systemd'))
const commands = new Set(createProgram(false).commands.map((command) => command.name()))
const settings = new Set(Object.values(SETTINGS).map(({ variable }) => variable))

/** systemd-analyze rejects units whose executable does not exist. */
const folder = mkdtempSync(join(tmpdir(), 'berth-units-'))
afterAll(() => rmSync(folder, { recursive: true }))
for (const unit of units) writeFileSync(join(folder, unit), read(`ops/systemd/${unit}`).replaceAll('/usr/bin/node', '/bin/true'))
const paths = units.map((unit) => join(folder, unit))

describeIf(missingCommands('systemd-analyze'))('systemd-analyze', () => {
  test('accepts the units without a message', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' })
  })

  test.each(paths.filter((path) => path.endsWith('.service')))('rates the exposure of %s below 2 of 10', (path) => {
    const report = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' })
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(report)?.[1])).toBeLessThan(2)
  })
})

describe('the systemd units', () => {
  test('run existing commands', () => {
    for (const unit of units.filter((each) => each.endsWith('.service')))
      expect(commands).toContain(/^ExecStart=.*berthd\.mjs (\w+)$/m.exec(read(`ops/systemd/${unit}`))?.[1])
  })

  test('restart until the database is up', () => {
    for (const unit of units.filter((each) => each.endsWith('.service'))) {
      expect(read(`ops/systemd/${unit}`)).toMatch(/^StartLimitIntervalSec=0$[^]*^\[Service\]$[^]*^Restart=(always|on-failure)$/m)
      expect(read(`ops/systemd/${unit}`)).not.toMatch(/^(Requires|BindsTo|Requisite)=/m)
    }
  })

  test.each(['api', 'worker'])('give %s the time to drain', (role) => {
    const { drainDelaySeconds, drainSeconds } = SETTINGS
    const seconds = Number(drainSeconds.fallback) + (role === 'api' ? Number(drainDelaySeconds.fallback) : 0) + CLOSE_TIMEOUT_MS / 1000
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(read(`ops/systemd/berth-${role}.service`))![1])).toBeGreaterThan(seconds)
  })

  test('use the same user, settings, data and program as ops/berthd', () => {
    const wrapper = read('ops/berthd')
    for (const unit of units.filter((each) => each.endsWith('.service'))) {
      const valueOf = (pattern: RegExp): string => pattern.exec(read(`ops/systemd/${unit}`))![1]!
      expect(wrapper).toContain(`runuser -u ${valueOf(/^User=(.+)$/m)} `)
      expect(wrapper).toContain(` -- env ${valueOf(/^Environment=(BERTH_DATA_DIR=.+)$/m)} `)
      expect(wrapper).toContain(`--env-file=${valueOf(/^EnvironmentFile=-(.+)$/m)} ${valueOf(/^ExecStart=.* (\S+) \w+$/m)} `)
    }
  })
})

test('HAProxy notices that an API stops before it closes', () => {
  const api = read('ops/ha/haproxy.cfg').split('listen api')[1]!
  const valueOf = (pattern: RegExp): number => Number(pattern.exec(api)![1])
  const checkSeconds = Number(/timeout check (\d+)s/.exec(read('ops/ha/haproxy.cfg'))![1])
  const noticed = (valueOf(/ fall (\d+)/) * valueOf(/ inter (\d+)ms/)) / 1000 + checkSeconds
  expect(noticed).toBeLessThan(Number(SETTINGS.drainDelaySeconds.fallback))
})

test('upgrades.md knows the schema of the queue, of which processes accept their own only', () => {
  const { pgboss } = JSON.parse(read('node_modules/pg-boss/package.json')) as { pgboss: { schema: number } }
  expect(read('docs/operate/upgrades.md')).toContain(`schema ${pgboss.schema} of pg-boss`)
})

describe('the compose file', () => {
  test('names only existing settings and commands', () => {
    const text = read('ops/compose.yaml').replaceAll('BERTH_IMAGE', '')
    for (const [variable] of text.matchAll(/\bBERTH_[A-Z_]+\b/g)) expect(settings).toContain(variable)
    for (const [, command] of text.matchAll(/^ *(?:CMD|command:) \["?([a-z]+)"?\]$/gm)) expect(commands).toContain(command)
  })
})

test('containers get the settings that a proxy needs', () => {
  for (const setting of ['BERTH_PUBLIC_URL', 'BERTH_TRUSTED_PROXIES'])
    expect(read('ops/compose.yaml')).toContain(`${setting}: \${${setting}:-`)
})

describe('a migration that the previous version cannot run with', () => {
  /** Released with 0.1.0: it creates everything. */
  const BASELINE = '0027_invariants.sql'
  const breaking =
    /\bdrop (?!index|constraint|view|not null)|\brename\b|\bset not null\b|\badd column (?![^,;]*\b(default|generated)\b)[^,;]*\bnot null\b/i

  test('is named in upgrades.md', () => {
    const names = readdirSync(join(root, 'server/migrations'))
    expect(names).toContain(BASELINE)
    const later = names.filter((name) => name > BASELINE && !isContract(name) && breaking.test(read(`server/migrations/${name}`)))
    for (const name of later) expect(read('docs/operate/upgrades.md')).toContain(name.replace('.sql', ''))
  })

  test.each([
    'alter table vms drop column note',
    'alter table vms rename to machines',
    'alter table vms alter column note set not null',
    'alter table vms add column note text not null',
  ])('is recognized: %s', (text) => expect(text).toMatch(breaking))

  test.each([
    'alter table vms add column note text',
    "alter table vms add column note text not null default ''",
    'drop index vms_by_note',
    'alter table vms alter column note drop not null',
  ])('is not: %s', (text) => expect(text).not.toMatch(breaking))
})

describe('monitoring', () => {
  const metrics = createMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
  const files = ['alerts.yaml', 'grafana.json'].map((name) => read(`docs/operate/files/${name}`))

  test('uses existing metrics', () => {
    const used = files.flatMap((text) =>
      [...text.matchAll(/\b(?:berth|process)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
    )
    expect(used.length).toBeGreaterThan(15)
    for (const name of used) expect(metrics).toContain(name)
    expect(JSON.parse(files[1]!)).toMatchObject({ title: 'Berth' })
  })

  test('names an existing runbook for each alert', () => {
    const runbooks = [...read('docs/operate/runbooks.md').matchAll(/^## (.+)$/gm)].map(([, title]) => anchorOf(title!))
    const named = [...files[0]!.matchAll(/runbook: \/docs\/operate\/runbooks#(.+)$/gm)].map(([, anchor]) => anchor!)
    expect(named.length).toBe(files[0]!.match(/- alert: /g)!.length)
    for (const anchor of named) expect(runbooks).toContain(anchor)
  })
})
