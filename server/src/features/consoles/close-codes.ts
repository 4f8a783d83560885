// Close reasons as the client receives them: a WebSocket close code and a text of at most 123 bytes.

const CODES = {
  closed: [1000, 'The console was closed'],
  draining: [1001, 'The server is stopping: ask for a new URL and connect again'],
  stopped: [4001, 'The VM is no longer running'],
  taken_over: [4002, 'A newer session took over this console'],
  suspended: [4003, 'The VM was suspended'],
  deleted: [4004, 'The VM was deleted'],
  idle: [4005, 'Nothing went through this console for too long: ask for a new URL'],
  too_long: [4006, 'A session may not last longer: ask for a new URL'],
  host_ended: [4007, 'The host ended the console: ask for a new URL'],
  revoked: [4008, 'The API token or the session that asked for this console is no longer valid'],
} as const

export type CloseReason = keyof typeof CODES

export const CLOSE_CODES: Record<CloseReason, readonly [code: number, reason: string]> = CODES
