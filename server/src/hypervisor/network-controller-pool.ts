// Region id → network controller. It is opened at its first use and shared from then on; opening does not connect. Where the databases are
// is looked up at every use, because another process may have changed it; those who ask in the same moment share a look, and so go on together.
import type { NetworkController } from './network-controller.ts'

export interface NetworkControllerPool {
  get(regionId: string): Promise<NetworkController>
  close(): Promise<void>
}

export interface NetworkControllerPoolOptions {
  /** Null: simulated; undefined for an unknown region. */
  lookup: (regionId: string) => Promise<string | null | undefined>
  open: (regionId: string, uri: string | null) => Promise<NetworkController>
}

interface Opened {
  uri: string | null
  controller: Promise<NetworkController>
}

export function createNetworkControllerPool({ lookup, open }: NetworkControllerPoolOptions): NetworkControllerPool {
  const controllers = new Map<string, Opened>()
  const looks = new Map<string, Promise<string | null | undefined>>()
  const look = (regionId: string): Promise<string | null | undefined> => {
    const shared = looks.get(regionId) ?? Promise.resolve().then(() => (looks.delete(regionId), lookup(regionId)))
    looks.set(regionId, shared)
    return shared
  }
  const forget = async (regionId: string, { controller }: Opened): Promise<void> => {
    controllers.delete(regionId)
    await controller.then((opened) => opened.close()).catch(() => undefined) // it never opened
  }
  return {
    async get(regionId) {
      const uri = await look(regionId)
      if (uri === undefined) throw new Error(`There is no region ${regionId}`)
      const known = controllers.get(regionId)
      if (known?.uri === uri) return known.controller
      if (known) void forget(regionId, known)
      const opened: Opened = { uri, controller: open(regionId, uri) }
      controllers.set(regionId, opened)
      opened.controller.catch(() => controllers.get(regionId) === opened && controllers.delete(regionId))
      return opened.controller
    },
    async close() {
      await Promise.all([...controllers].map(([regionId, opened]) => forget(regionId, opened)))
    },
  }
}
