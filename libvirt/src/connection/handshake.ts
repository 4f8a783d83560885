// The handshake of a connection: authentication, keepalive, hypervisor URI.
import { ConnectionLostError, LibvirtError } from '../errors.ts'
import { areas } from '../protocol/index.ts'
import { AuthType, Feature } from '../protocol/constants.ts'
import type { Procedure } from '../protocol/procedure.ts'

type Call = <Args, Result>(procedure: Procedure<Args, Result>, args: Args) => Promise<Result>
const { connect } = areas
const READ_ONLY = 1

export async function openHypervisor(call: Call, options: { uri: string; readOnly: boolean; watched: boolean }): Promise<void> {
  await authenticate(call)
  // The daemon starts its keepalive when a client asks for the feature.
  if (options.watched) await call(connect.supportsFeature, { feature: Feature.keepalive })
  await call(connect.open, { uri: options.uri, flags: options.readOnly ? READ_ONLY : 0 })
}

/** Required even without authentication: the daemon rejects every other call before. */
async function authenticate(call: Call): Promise<void> {
  const offered = await call(connect.authList, {})
  if (offered.length === 0 || offered.includes(AuthType.none)) return
  if (offered.includes(AuthType.polkit)) await call(connect.authPolkit, {})
  else
    throw new LibvirtError('the daemon requires SASL authentication, which is not supported; use certificates or a unix socket', {
      outcome: 'refused',
    })
}

export function asHandshakeError(error: unknown, description: string): Error {
  if (!(error instanceof LibvirtError)) return error as Error
  return new ConnectionLostError(`cannot open libvirtd at ${description}: ${error.message}`, { outcome: 'not sent', cause: error })
}
