import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import catalog from '../../server/catalog.json' with { type: 'json' }
import dashboard from '../../openapi/dashboard.json' with { type: 'json' }
import openapi from '../../openapi/v1.json' with { type: 'json' }
import { vmsMessages } from '../src/words/en/vms.ts'
import { limitName } from '../src/words/en/settings.ts'
import { ACTION_CHOICES, actionName } from '../src/screens/audit-log/action-name.ts'

test.each(Object.keys(catalog.numbers).filter((name) => name.startsWith('quota.')))('%s has a label', (number) => {
  const name = number.replace('quota.', '')
  expect(limitName(name)).toMatch(/^[A-Za-z][A-Za-z ]+( \((MiB|GiB)\))?$/)
  expect(limitName(name)).not.toBe(name)
})

test('an unknown limit is shown by its key', () => expect(limitName('ships_per_dock')).toBe('ships_per_dock'))

test.each([
  ['createVm', 'Created VM'],
  ['setVmPassword', 'Set VM password'],
  ['buyBandwidthPack', 'Bought traffic pack'],
  ['replyToTicket', 'Replied to ticket'],
  ['createSshKey', 'Created SSH key'],
  ['account credit', 'Account credit'],
  ['operatorCreateRegion', 'Created region'],
  ['operatorSuspendVm', 'Suspended VM'],
])('the audit log says %s in words', (action, words) => expect(actionName(action)).toBe(words))

const writesOf = (paths: object): string[] =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods as Record<string, { operationId: string }>).flatMap(([method, { operationId }]) =>
      /^(post|put|patch|delete)$/.test(method) && !/^check[A-Z]/.test(operationId) ? [operationId] : [],
    ),
  )

test('the audit log says in words what operators did in the dashboard', () => {
  const operations = writesOf(dashboard.paths).filter((id) => id.startsWith('operator'))
  expect(operations).not.toEqual([])
  expect(operations.filter((id) => !/^[A-Z][a-z]+ed [A-Za-z -]+$/.test(actionName(id)))).toEqual([])
})

test('every write of the public API can be chosen in the audit log, in words', () => {
  const chosen = new Map(ACTION_CHOICES.map(({ value, label }) => [value, label]))
  expect(writesOf(openapi.paths).filter((id) => !/^[A-Z][A-Za-z -]+$/.test(chosen.get(id) ?? ''))).toEqual([])
})

test('every action of a VM is shown in words', () => {
  const features = new URL('../../server/src/features/', import.meta.url)
  const labels = globSync('*/**/*.ts', { cwd: features }).flatMap((file) =>
    [...readFileSync(new URL(file, features), 'utf8').matchAll(/\blabel: '([A-Z_]+)'|\b(?:LABEL|ATTACH|DETACH) = '([A-Z_]+)'/g)].map(
      ([, given, constant]) => given ?? constant!,
    ),
  )
  expect(labels).toContain('VOLUME_GROW')
  const ofNoVm = new Set(['BACKUP_PROVE', 'FENCE'])
  expect(labels.filter((label) => !ofNoVm.has(label) && !(label in vmsMessages.actionNames))).toEqual([])
})
