// A host that loses power, or a firewall that drops a connection's state, sends no FIN: a query would wait forever. The socket's idle timer
// detects this at no cost per query.
import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'

/** Undeclared fields of node-postgres. `readyForQuery`: no response is outstanding. */
interface Inside {
  connection: { stream: Socket }
  readyForQuery: boolean
}

export const streamOf = (client: ClientBase): Socket => (client as unknown as Inside).connection.stream

/** Closes a connection on which nothing arrived for `ms` (0 = never) although a response or FIN is due; otherwise calls `atRest`. */
export function closeWhenUnresponsive(client: ClientBase, ms: number, atRest: () => void = () => {}): void {
  const stream = streamOf(client)
  stream.setTimeout(ms).on('timeout', () => {
    if ((client as unknown as Inside).readyForQuery && stream.writable) atRest()
    else stream.destroy(new Error('PostgreSQL did not respond; connection closed'))
  })
}
