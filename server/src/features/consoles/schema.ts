import { object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { vmEventDataWith } from '../vms/schema.ts'

const ConsoleType = oneOf(['serial', 'vnc'])

export const OpenConsole = object(
  { type: ConsoleType },
  { title: 'OpenConsole', description: 'serial is text and there is one on every host; vnc is the screen, where the host offers it' },
)
export type OpenConsole = Static<typeof OpenConsole>

export const ConsoleLink = object(
  {
    url: Type.String({ description: 'A WebSocket URL that opens the console once. It is a secret: whoever has it is at the console' }),
    expiresAt: Timestamp,
  },
  { title: 'ConsoleLink' },
)
export type ConsoleLink = Static<typeof ConsoleLink>

const ConsoleEventData = vmEventDataWith('ConsoleEventData', { console: object({ type: ConsoleType, sessionId: Type.String() }) })

export const consoleEvents = {
  'vm.console_opened': defineEvent(ConsoleEventData, 'Somebody connected to the URL of a console; at most once a minute for a VM', {
    sometimesBy: ['openConsole'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof consoleEvents> {}
}
