// Events as lines that read in order of time.
import type { Event } from '@berth/sdk'
import { time } from '../../format.ts'
import { harmless, type Paint } from '../../style.ts'

export const lineOf = (event: Event, paint: Paint): string =>
  `${paint('dim', time(event.timestamp))}  ${harmless([event.cursor.padStart(5), event.type.padEnd(24), about(event.data)].join('  ')).trimEnd()}`

interface About {
  vm?: { name: string }
  ticket?: { subject: string }
  transaction?: { description: string } | null
  reason?: string | null
}

function about(data: About): string {
  const subject = data.vm?.name ?? data.ticket?.subject ?? data.transaction?.description ?? ''
  return data.reason ? `${subject} (${data.reason})` : subject
}
