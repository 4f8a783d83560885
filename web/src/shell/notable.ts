// What of the events of an account is worth a mark on the bell: what failed, what is about to happen, and what somebody waits for.
import type { Event } from '@berth/sdk'
import type { IconName } from '../ui/Icon.tsx'

const NOTABLE =
  /(^|[._])(failed|error|lost|past_due|suspended|rescue_expired|recovered|low_balance|payment_received|fired|announced|cancelled|reply|closed|disabled|throttled)$/

export const isNotable = (type: string): boolean => NOTABLE.test(type)

interface Place {
  icon: IconName
  to: string
  tab?: string
}

type Subject = Partial<Record<'vm' | 'ticket' | 'webhook' | 'firewall', { id?: string } | null>>

/** Where an event can be looked into. */
export function placeOf({ type, data }: Pick<Event, 'type' | 'data'>): Place {
  const { vm, ticket, webhook, firewall } = data as Subject
  if (type.startsWith('ticket.') && ticket?.id) return { icon: 'buoy', to: `/tickets/${ticket.id}` }
  if (type.startsWith('webhook.') && webhook?.id) return { icon: 'webhook', to: `/webhooks/${webhook.id}` }
  if (firewall?.id) return { icon: 'shield', to: `/firewalls/${firewall.id}` }
  if (type.startsWith('alert.')) return { icon: 'bell', to: '/alerts' }
  if (type.startsWith('billing.') || type.endsWith('past_due')) return { icon: 'wallet', to: '/wallet' }
  if (type.startsWith('maintenance.')) return { icon: 'settings', to: '/' }
  if (type.startsWith('volume.')) return { icon: 'disk', to: '/volumes' }
  if (type.startsWith('image.')) return { icon: 'box', to: '/images' }
  if (type.startsWith('address.')) return { icon: 'pin', to: '/addresses' }
  if (vm?.id) return { icon: 'server', to: `/vms/${vm.id}`, tab: type.startsWith('backup.') ? 'copies' : 'activity' }
  return { icon: 'pulse', to: '/events' }
}

/** Failures are red, the rest is not. */
export const isFailure = (type: string): boolean => /(failed|error|lost|past_due|suspended|disabled|fired)$/.test(type)
