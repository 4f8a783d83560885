import { WEBHOOK_EVENTS } from '@berth/sdk'
import { describe, expect, test } from 'vitest'
import { eventSentence } from '../src/screens/events/describe.ts'
import { examplePayload } from '../src/screens/events/example.ts'

type Described = Parameters<typeof eventSentence>[0]

const sentenceOf = (type: string, data: object = {}): string => {
  const example = examplePayload(type as Described['type']) as Described
  return eventSentence({ ...example, data: { ...example.data, ...data } } as Described)
}

describe('the list of events says what happened', () => {
  test.each(WEBHOOK_EVENTS)('%s is a sentence with the name of what it is about', (type) => {
    expect(sentenceOf(type)).toMatch(/^[A-Z][^_]+$/)
    expect(sentenceOf(type)).not.toMatch(/undefined|null|\w\.$/)
    expect(sentenceOf(type)).toMatch(
      /web-1|irewall web|mage golden|olume data|198\.51\.100\.7|A question|New memory|Project shop|25\.00 USD|renewals of the next 7 days|nightly tests|ada@example\.com|https:\/\/example\.com\/hook/,
    )
  })

  test('with the reason where it matters', () => {
    expect(sentenceOf('vm.stopped', { reason: 'user' })).toBe('VM web-1 was shut down')
    expect(sentenceOf('vm.stopped', { reason: 'crashed' })).toBe('VM web-1 stopped')
    expect(sentenceOf('vm.suspended', { reason: 'unpaid' })).toBe('VM web-1 was suspended because of an overdue payment')
    expect(sentenceOf('backup.failed')).toBe('Backup daily of VM web-1 failed')
  })

  test('and shows a type that it does not know by its name', () => expect(sentenceOf('vm.dreamt')).toBe('vm.dreamt'))
})
