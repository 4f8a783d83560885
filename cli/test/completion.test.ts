import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reset, scripted } from '../../sdk/test/scripted.ts'
import { berth, createCliFixture } from './fixture.ts'

const app = await createCliFixture()
const customer = await app.given.customer({ credit: '100.00' })
const env = app.envOf(customer)
const { id } = await app.given.vm(customer, { name: 'web shop' })
await customer.post('/firewalls', { name: 'front' })
await customer.post(`/vms/${id}/snapshots`, { name: 'before' })
await app.settle()

const candidates = async (...words: string[]): Promise<string[]> =>
  (await berth(env, ['__complete', ...words])).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]!)

test('commands, options and their values are completed', async () => {
  expect(await candidates('v')).toEqual(['vm', 'volume'])
  expect(await candidates('vm', 're')).toEqual(['reach', 'restart', 'resize', 'rescue', 'rebuild', 'rename'])
  expect(await candidates('vm', 'stop', 'x', '--f')).toEqual(['--force'])
  expect(await candidates('vm', 'list', '-o', '')).toEqual(['table', 'json', 'name'])
  expect(await candidates('vm', 'update', 'x', '--daily-backups', '')).toEqual(['on', 'off'])
  expect(await candidates('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(await candidates('webhook', 'create', 'x', '--event', 'snap')).toEqual([
    'snapshot.created',
    'snapshot.deleted',
    'snapshot.restored',
  ])
})

test('names of existing resources are completed', async () => {
  expect(await candidates('vm', 'get', '')).toEqual(['web shop'])
  expect(await candidates('firewall', 'bind', '')).toEqual(['front'])
  expect(await candidates('firewall', 'bind', 'front', 'w')).toEqual(['web shop'])
  expect(await candidates('snapshot', 'get', 'web shop', '')).toEqual(['before'])
  expect(await candidates('vm', 'create', 'x', '--os', 'debian-12')).toContain('debian-12')
  expect(await candidates('vm', 'create', 'x', '--firewall', '')).toEqual(['front'])
})

test('an unreachable server yields no candidates and no error', async () => {
  for (const words of [
    ['vm', 'get', ''],
    ['snapshot', 'get', 'web shop', ''],
  ]) {
    const { baseUrl, requests } = await scripted(reset)
    expect(await berth({ ...env, BERTH_URL: baseUrl }, ['__complete', ...words])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(requests).toHaveLength(1)
  }
})

test('the bash script calls berth __complete and quotes the candidates', async () => {
  const bin = join(app.home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'berth'), `#!/bin/sh\necho "$*" >> ${app.home}/calls\nprintf 'web shop\\tVM\\nworker\\tVM\\n'\n`)
  chmodSync(join(bin, 'berth'), 0o755)
  const { stdout: script } = await berth(env, ['completion', 'bash'])
  const test = `${script}\nCOMP_WORDS=(berth vm get w) COMP_CWORD=3\n_berth\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['-c', test], { env: { PATH: `${bin}:${process.env['PATH']}` }, encoding: 'utf8' })
  expect(output).toBe('web\\ shop\nworker\n')
  expect(execFileSync('cat', [join(app.home, 'calls')], { encoding: 'utf8' })).toBe('__complete vm get w\n')
})
