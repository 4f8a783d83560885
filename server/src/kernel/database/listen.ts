// LISTEN over one dedicated connection for all channels. A lost connection is reopened, and listeners learn that notifications may have
// been missed.
import pg from 'pg'
import { closeWhenUnresponsive } from './connection-watchdog.ts'

type OnNotify = (payload: string) => void
type OnListening = (yes: boolean) => void
type Stop = () => Promise<void>

interface Listener {
  channel: string
  onNotify: OnNotify
  onListening: OnListening
}

const RECONNECT_MS = 500

/** `restMs`: after that long without traffic PostgreSQL is pinged, and has the same time to respond. */
export function listenerOn(url: string, idleMs: number): (channel: string, onNotify: OnNotify, onListening: OnListening) => Promise<Stop> {
  const listeners = new Set<Listener>()
  let connection: Promise<pg.Client> | null = null

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 15_000 })
    client.on('notification', ({ channel, payload }) => {
      for (const listener of listeners) if (listener.channel === channel) listener.onNotify(payload ?? '')
    })
    client.on('error', () => lost(client))
    client.on('end', () => lost(client))
    await client.connect()
    closeWhenUnresponsive(client, idleMs, () => void client.query('select 1').catch(() => {})) // a failure is handled by the events above
    return client
  }

  let current: pg.Client | null = null
  const lost = (client: pg.Client): void => {
    if (client !== current) return
    current = connection = null
    listeners.forEach((listener) => listener.onListening(false))
    reconnect()
  }

  const reconnect = (): void => {
    if (listeners.size > 0) setTimeout(() => void open().catch(reconnect), RECONNECT_MS).unref()
  }

  /** One connection for all: concurrent callers wait for the same connection attempt. */
  const open = (): Promise<pg.Client> => {
    connection ??= connect().then(
      async (client) => {
        current = client
        for (const listener of listeners) await subscribe(client, listener)
        return client
      },
      (error: unknown) => {
        connection = null
        throw error
      },
    )
    return connection
  }

  return async (channel, onNotify, onListening) => {
    const listener = { channel, onNotify, onListening }
    const client = await open()
    listeners.add(listener)
    await subscribe(client, listener).catch((error: unknown) => {
      listeners.delete(listener)
      throw error
    })
    return async () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      const last = current
      current = connection = null
      await last?.end()
    }
  }
}

async function subscribe(client: pg.Client, { channel, onListening }: Listener): Promise<void> {
  await client.query(`listen "${channel}"`)
  onListening(true)
}
