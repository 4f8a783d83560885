import type { Event } from '@berth/sdk'
import { eventSentences } from '../../words/words.ts'

/** What happened. A type that this dashboard does not know is shown by its name. */
export function eventSentence({ type, data }: Pick<Event, 'type' | 'data'>): string {
  const sentences: Partial<Record<string, (data: never) => string>> = eventSentences
  return sentences[type]?.(data as never) ?? type
}
