// One short-lived connection to the libvirtd of this machine or of a host being verified.
import { Connection, hasCode, unix, type Endpoint } from '@berth/libvirt'

export async function withLibvirt<T>(work: (libvirt: Connection) => Promise<T>, endpoint: Endpoint = unix()): Promise<T> {
  const connection = await Connection.open({ endpoint, openTimeoutMs: 5_000 })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Null when the lookup fails with that "not found" code. */
export const found = <T>(lookup: Promise<T>, code: number): Promise<T | null> =>
  lookup.catch((error: unknown) => {
    if (hasCode(error, code)) return null
    throw error
  })

/** 9000000 → 9.0 */
export const versionText = (version: bigint): string => `${version / 1_000_000n}.${(version / 1_000n) % 1_000n}`
