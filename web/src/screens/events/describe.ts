import type { Event } from '@berth/sdk'

/** The name of the resource an event is about. */
export function eventSubject({ data }: Event): string {
  if ('vm' in data) return data.vm.name
  if ('ticket' in data) return data.ticket.subject
  if ('webhook' in data) return data.webhook.url
  return data.transaction?.amount ?? ''
}
