// What must be said before anything else: which logins there are, whether the daemon should watch us, which hypervisor we want.
import { ConnectionLostError, LibvirtError } from '../errors.ts'
import { areas } from '../protocol/index.ts'
import { AuthType, Feature } from '../protocol/constants.ts'
import type { Procedure } from '../protocol/procedure.ts'

type Call = <Args, Result>(procedure: Procedure<Args, Result>, args: Args) => Promise<Result>
const { connect } = areas
const READ_ONLY = 1

export async function openHypervisor(call: Call, options: { uri: string; readOnly: boolean; watched: boolean }): Promise<void> {
  await logIn(call)
  // Asking whether the daemon can watch us is what makes it begin.
  if (options.watched) await call(connect.supportsFeature, { feature: Feature.keepalive })
  await call(connect.open, { uri: options.uri, flags: options.readOnly ? READ_ONLY : 0 })
}

/** Required even where there is no login: the daemon refuses everything else before. */
async function logIn(call: Call): Promise<void> {
  const offered = await call(connect.authList, {})
  if (offered.length === 0 || offered.includes(AuthType.none)) return
  if (offered.includes(AuthType.polkit)) await call(connect.authPolkit, {})
  else throw new LibvirtError('the daemon wants a SASL login; let it identify us by certificate or socket instead', { outcome: 'refused' })
}

export function asOpeningFailure(error: unknown, description: string): Error {
  if (!(error instanceof LibvirtError)) return error as Error
  return new ConnectionLostError(`cannot open libvirtd at ${description}: ${error.message}`, { outcome: 'not sent', cause: error })
}
