import type { Event } from '@berth/sdk'

const named = (value: unknown): string | undefined => {
  const { name, subject, amount, url } = (value ?? {}) as { name?: string; subject?: string; amount?: string; url?: string }
  return name ?? subject ?? url ?? amount
}

/** The name of the resource an event is about. */
export function eventSubject({ data }: Event): string {
  for (const key of ['vm', 'ticket', 'transaction', 'webhook']) {
    const text = named(data[key])
    if (text) return text
  }
  return ''
}
