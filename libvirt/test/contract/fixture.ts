import { expect } from 'vitest'
import { RemoteError } from '../../src/index.ts'
import type { Connection, Domain, Named, Volume } from '../../src/index.ts'
import type { Sandbox } from '../sandboxed-libvirtd.ts'

/** What the parts of the contract hand on to each other. */
export interface Fixture {
  kind: 'unix' | 'tls'
  sandbox: Sandbox
  c: Connection
  pool: Named
  disk: Volume
  guest: Domain
}

/** Fine with us whether the daemon does it or refuses: here it matters that we understand each other. */
export async function expectUnderstood(call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error === undefined || error instanceof RemoteError, String(error)).toBe(true)
}
