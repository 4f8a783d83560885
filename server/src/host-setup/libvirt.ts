// One connection to the daemon of this machine, or of another that is being looked at.
import { Connection, hasCode, unix, type Endpoint } from '@berth/libvirt'

export async function withLibvirt<T>(work: (libvirt: Connection) => Promise<T>, endpoint: Endpoint = unix()): Promise<T> {
  const connection = await Connection.open({ endpoint, openTimeoutMs: 5_000 })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** What a lookup finds, or null when the daemon says that there is none. */
export const found = <T>(lookup: Promise<T>, code: number): Promise<T | null> =>
  lookup.catch((error: unknown) => {
    if (hasCode(error, code)) return null
    throw error
  })

/** 9000000 → 9.0 */
export const versionText = (version: bigint): string => `${version / 1_000_000n}.${(version / 1_000n) % 1_000n}`
