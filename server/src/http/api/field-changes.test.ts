import { expect, test } from 'vitest'
import { fieldChanges, nameOf } from './field-changes.ts'

test('a list that is answered as a whole is compared whatever else the body says', () => {
  const rule = (port: string) => ({ id: port, port, createdAt: `at ${port}` })
  expect(fieldChanges({ rules: [], basedOn: 'v1' }, { rules: [rule('22')] }, [rule('80')])).toEqual([
    { field: 'rules', from: 'port 22', to: 'port 80' },
  ])
})

test('a list that is answered by what names nothing is compared too', () => {
  expect(fieldChanges({}, { rules: ['a', 'b'] }, ['b'])).toEqual([{ field: 'rules', from: 'a', to: null }])
  expect(fieldChanges({}, { rules: [{ id: '1', port: '22' }] }, [{ id: '2', port: '22' }])).toEqual([])
  expect(fieldChanges({}, { id: '1', name: 'a' }, ['b'])).toEqual([])
})

test('long texts are cut between characters, because PostgreSQL refuses half of one', () => {
  const long = `${'x'.repeat(399)}🚢🚢`
  const [change] = fieldChanges({ name: '' }, { name: long }, { name: '' })
  expect(change!.from!.isWellFormed()).toBe(true)
  expect(nameOf({ name: `${'x'.repeat(199)}🚢` })!.isWellFormed()).toBe(true)
})
