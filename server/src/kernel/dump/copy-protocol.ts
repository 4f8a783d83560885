// COPY of PostgreSQL as streams. node-postgres dispatches protocol messages to the submitted query; these classes handle only COPY.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type pg from 'pg'

interface Connection {
  stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** The methods that node-postgres calls on a submitted query. */
class Copy {
  readonly done: Promise<number>
  readonly #text: string
  readonly #settle: { resolve: (rows: number) => void; reject: (error: unknown) => void }
  #rows = 0

  constructor(text: string) {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#text = text
    this.#settle = { resolve, reject }
    this.done = promise
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(text.split(' ')[1])
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#rows)
  }

  handleError(error: unknown): void {
    this.#settle.reject(error)
  }
}

class CopyOut extends Copy {
  readonly #write: (chunk: Buffer) => Promise<void> | undefined

  constructor(text: string, write: (chunk: Buffer) => Promise<void> | undefined) {
    super(text)
    this.#write = write
  }

  handleCopyData({ chunk }: { chunk: Buffer }, { stream }: Connection): void {
    const full = this.#write(Buffer.from(chunk))
    if (!full) return
    stream.pause()
    const resume = (): void => void stream.resume()
    full.then(resume, resume) // the writer of the file reports its error
  }
}

class CopyIn extends Copy {
  readonly #chunks: AsyncIterable<Buffer>

  constructor(text: string, chunks: AsyncIterable<Buffer>) {
    super(text)
    this.#chunks = chunks
  }

  handleCopyInResponse(connection: Connection): void {
    void this.#send(connection).catch((error: unknown) => connection.sendCopyFail((error as Error).message))
  }

  async #send(connection: Connection): Promise<void> {
    for await (const chunk of this.#chunks) {
      connection.sendCopyFromChunk(chunk)
      if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
    }
    connection.endCopyFrom()
  }
}

const submit = (client: pg.Client, copy: Copy): Promise<number> => {
  client.query(copy as unknown as pg.Submittable)
  return copy.done
}

/** Returns the number of rows. When `write` returns a promise, reading pauses until it settles. */
export const copyOut = (client: pg.Client, text: string, write: (chunk: Buffer) => Promise<void> | undefined): Promise<number> =>
  submit(client, new CopyOut(text, write))

export const copyIn = (client: pg.Client, text: string, chunks: AsyncIterable<Buffer>): Promise<number> =>
  submit(client, new CopyIn(text, chunks))
