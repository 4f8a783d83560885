import { expect, test } from 'vitest'
import catalog from '../../server/catalog.json' with { type: 'json' }
import { limitName } from '../src/messages/settings.ts'

test.each(Object.keys(catalog.numbers).filter((name) => name.startsWith('quota.')))('%s has a name for people', (number) => {
  const name = number.replace('quota.', '')
  expect(limitName(name)).toMatch(/^[A-Za-z][A-Za-z ]+( \((MiB|GiB)\))?$/)
  expect(limitName(name)).not.toBe(name)
})

test('a limit that is new is shown by the name it has', () => expect(limitName('ships_per_dock')).toBe('ships_per_dock'))
