import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { readReply } from './guest-agent.ts'

const Vcpus = Type.Array(Type.Object({ online: Type.Boolean() }), { maxItems: 2 })

test('reads the reply of an agent', () => {
  expect(readReply('{"return":[{"online":true,"can-offline":false}]}', Vcpus)).toEqual([{ online: true, 'can-offline': false }])
  expect(readReply('{"return":[]}', Vcpus)).toEqual([])
})

test.each([
  undefined,
  null,
  '',
  'x',
  'null',
  '[]',
  '"return"',
  '{}',
  '{"return":null}',
  '{"return":{}}',
  '{"return":[null]}',
  '{"return":[{"online":1}]}',
  '{"return":[{"online":true},{"online":true},{"online":true}]}',
  `{"return":[{"online":true,"x":"${'x'.repeat(2 ** 20)}"}]}`,
])('takes nothing else from a guest: %.40s', (answer) => {
  expect(readReply(answer, Vcpus)).toBeUndefined()
})
