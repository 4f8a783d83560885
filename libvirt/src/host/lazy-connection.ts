// A connection that is opened at its first use, and again at the next use after it was lost.
import type { Connection } from '../connection/connection.ts'

export class LazyConnection {
  private readonly open: () => Promise<Connection>
  private opened: Promise<Connection> | undefined

  constructor(open: () => Promise<Connection>) {
    this.open = open
  }

  use(): Promise<Connection> {
    return (this.opened ??= this.follow(this.open()))
  }

  async stop(): Promise<void> {
    const connection = await this.opened?.catch(() => undefined)
    await connection?.close()
  }

  private follow(opening: Promise<Connection>): Promise<Connection> {
    const forget = () => void (this.opened = undefined)
    opening.then((connection) => connection.closed.then(forget), forget)
    return opening
  }
}
