import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import catalog from '../../server/catalog.json' with { type: 'json' }
import dashboard from '../../openapi/dashboard.json' with { type: 'json' }
import openapi from '../../openapi/v1.json' with { type: 'json' }
import { vmsMessages } from '../src/words/en/vms.ts'
import { limitName } from '../src/words/en/settings.ts'
import { ACTION_CHOICES, sentenceOf, subjectOf } from '../src/screens/audit-log/sentence.ts'
import { linkedParts } from '../src/screens/events/linked-parts.ts'
import * as de from '../src/words/de/audit-actions.ts'
import * as en from '../src/words/en/audit-actions.ts'

test.each(Object.keys(catalog.numbers).filter((name) => name.startsWith('quota.')))('%s has a label', (number) => {
  const name = number.replace('quota.', '')
  expect(limitName(name)).toMatch(/^[A-Za-z][A-Za-z ]+( \((MiB|GiB)\))?$/)
  expect(limitName(name)).not.toBe(name)
})

test('an unknown limit is shown by its key', () => expect(limitName('ships_per_dock')).toBe('ships_per_dock'))

const entry = { resourceIds: ['cvm'], route: '/vms/{id}', result: 'succeeded' as const }
const inWords = (action: string, change: object = {}): string =>
  sentenceOf({ ...entry, action, ...change })
    .map((part) => ('text' in part ? part.text : part.slot === 'who' ? 'Ada' : 'web-1'))
    .join('')

test.each([
  ['restartVm', {}, 'Ada rebooted VM web-1'],
  ['restartVm', { result: 'refused' }, 'Ada was refused: Reboot VM web-1'],
  ['createVm', { result: 'refused', resourceIds: [] }, 'Ada was refused: Create VM'],
  ['changePassword', { resourceIds: [] }, 'Ada changed their password'],
  ['signInByProviderWithRecoveryCode:staff', { resourceIds: [] }, 'Ada signed in by a provider (staff, with a recovery code)'],
  ['account limit', {}, 'Ada changed a limit of this account'],
  ['dreamOfVm', {}, 'Ada dreamOfVm'],
])('the audit log says %s %j as a sentence', (action, change, sentence) => expect(inWords(action, change)).toBe(sentence))

test('a copy is what the sentence is about where it is changed, and its VM where it is made', () => {
  const resourceIds = ['cvm', 'ccopy']
  expect(subjectOf({ route: '/vms/{vmId}/snapshots/{id}', resourceIds })).toBe('ccopy')
  expect(subjectOf({ route: '/vms/{vmId}/backups/{id}/restore', resourceIds })).toBe('ccopy')
  expect(subjectOf({ route: '/vms/{vmId}/snapshots', resourceIds })).toBe('cvm')
})

test('an event leads to what it names', () => {
  const data = { vm: { id: 'cvm', name: 'web' }, volume: { id: 'cvol', name: 'data' }, reason: 'x' }
  expect(linkedParts('Volume data was attached to VM web', data)).toEqual([
    { at: 0, text: 'Volume ' },
    { at: 7, text: 'data', to: '/volumes' },
    { at: 11, text: ' was attached to VM ' },
    { at: 31, text: 'web', to: '/vms/cvm' },
  ])
})

const writesOf = (paths: object): string[] =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods as Record<string, { operationId: string }>).flatMap(([method, { operationId }]) =>
      /^(post|put|patch|delete)$/.test(method) && !/^check[A-Z]/.test(operationId) ? [operationId] : [],
    ),
  )

describe.each([
  ['English', en],
  ['German', de],
])('the audit log in %s', (_, { auditActions }) => {
  test('says in words what operators did in the dashboard', () => {
    const operations = writesOf(dashboard.paths).filter((id) => id.startsWith('operator'))
    expect(operations).not.toEqual([])
    expect(operations.filter((id) => !(id in auditActions))).toEqual([])
  })

  test('has words for every write of the public API', () => {
    expect(writesOf(openapi.paths).filter((id) => !(id in auditActions))).toEqual([])
  })

  test('has words for every command of operators', () => {
    const source = new URL('../../server/src/', import.meta.url)
    const files = globSync('{features,commands}/**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))
    const commands = files.flatMap((file) =>
      [...readFileSync(new URL(file, source), 'utf8').matchAll(/\baccountId[^\n]*\baction: '([a-z-]+(?: [a-z-]+)+)'/g)].map(
        ([, command]) => command!,
      ),
    )
    expect(commands).toContain('vm migrate')
    expect(commands.filter((command) => !(command in auditActions))).toEqual([])
  })
})

test('every write of the public API can be chosen in the audit log', () => {
  const chosen = new Set(ACTION_CHOICES.flatMap(({ items }) => items.map(({ value }) => value)))
  expect(writesOf(openapi.paths).filter((id) => !chosen.has(id))).toEqual([])
})

test('every action of a VM is shown in words', () => {
  const features = new URL('../../server/src/features/', import.meta.url)
  const labels = globSync('*/**/*.ts', { cwd: features }).flatMap((file) =>
    [...readFileSync(new URL(file, features), 'utf8').matchAll(/\blabel: '([A-Z_]+)'|\b(?:LABEL|ATTACH|DETACH) = '([A-Z_]+)'/g)].map(
      ([, given, constant]) => given ?? constant!,
    ),
  )
  expect(labels).toContain('VOLUME_GROW')
  const ofNoVm = new Set(['BACKUP_PROVE', 'FENCE', 'TEMPLATE_IMPORT'])
  expect(labels.filter((label) => !ofNoVm.has(label) && !(label in vmsMessages.actionNames))).toEqual([])
})
