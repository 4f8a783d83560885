// A machine that loses its power, or a firewall that forgets a connection, closes none: whoever asked would wait for ever. Watched by the
// timer of the socket, which costs a query nothing.
import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'

/** What node-postgres has, and does not declare. `readyForQuery`: no answer is outstanding. */
interface Inside {
  connection: { stream: Socket }
  readyForQuery: boolean
}

export const streamOf = (client: ClientBase): Socket => (client as unknown as Inside).connection.stream

/** Cuts a connection on which nothing has come for so long although an answer, or its end, is due; 0 is never. `atRest`: none is. */
export function closeWhenUnresponsive(client: ClientBase, ms: number, atRest: () => void = () => {}): void {
  const stream = streamOf(client)
  stream.setTimeout(ms).on('timeout', () => {
    if ((client as unknown as Inside).readyForQuery && stream.writable) atRest()
    else stream.destroy(new Error('PostgreSQL does not answer: the connection is given up'))
  })
}
