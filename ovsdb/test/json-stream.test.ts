import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonStream } from '../src/json-stream.ts'

test('messages are found however the bytes are cut', () => {
  const message = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      fc.boolean(),
      (messages, sizes, spaced) => {
        const bytes = Buffer.from(messages.map((each) => JSON.stringify(each)).join(spaced ? ' \n' : ''))
        const stream = new JsonStream()
        const found: unknown[] = []
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value as number
          found.push(...stream.push(bytes.subarray(at, at + size)))
          at += size
        }
        expect(found).toEqual(messages.map((each) => JSON.parse(JSON.stringify(each))))
      },
    ),
  )
})

test.each([
  ['text between messages', '{}x{}', /not a JSON object/],
  ['a closing brace', '}', /not a JSON object/],
  ['balanced nonsense', '{"a":}', /malformed/],
  ['a message too large', `{"a":"${'x'.repeat(100)}"}`, /more than 64 bytes/],
])('%s is an error', (_, text, message) => {
  expect(() => [...new JsonStream(64).push(Buffer.from(text))]).toThrow(message)
})
