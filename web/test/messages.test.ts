import { expect, test } from 'vitest'
import catalog from '../../server/catalog.json' with { type: 'json' }
import { limitName } from '../src/messages/settings.ts'

test.each(Object.keys(catalog.numbers).filter((name) => name.startsWith('quota.')))('%s has a label', (number) => {
  const name = number.replace('quota.', '')
  expect(limitName(name)).toMatch(/^[A-Za-z][A-Za-z ]+( \((MiB|GiB)\))?$/)
  expect(limitName(name)).not.toBe(name)
})

test('an unknown limit is shown by its key', () => expect(limitName('ships_per_dock')).toBe('ships_per_dock'))
