import { object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const OpenConsole = object(
  { type: oneOf(['serial', 'vnc']) },
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
