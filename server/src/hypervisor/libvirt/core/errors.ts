// What libvirt says, in the words of the driver's contract.
import { ConnectionLostError, ErrorCode, LibvirtError, RemoteError } from '@berth/libvirt'
import { DriverError, type DriverErrorKind } from '../../driver.ts'

const KIND_OF_CODE = new Map<number, DriverErrorKind>([
  [ErrorCode.noDomain, 'not_found'],
  [ErrorCode.noNetwork, 'not_found'],
  [ErrorCode.noStorageVolume, 'not_found'],
  [ErrorCode.noFilter, 'not_found'],
  [ErrorCode.noSnapshot, 'not_found'],
  [ErrorCode.noCheckpoint, 'not_found'],
  [ErrorCode.deviceMissing, 'not_found'],
  [ErrorCode.operationInvalid, 'invalid_state'],
  [ErrorCode.domainExists, 'conflict'],
  [ErrorCode.volumeExists, 'conflict'],
  [ErrorCode.noSupport, 'unsupported'],
  [ErrorCode.configUnsupported, 'unsupported'],
  [ErrorCode.argumentUnsupported, 'unsupported'],
  [ErrorCode.operationUnsupported, 'unsupported'],
  [ErrorCode.xml, 'permanent'],
  [ErrorCode.invalidArgument, 'permanent'],
  [ErrorCode.authFailed, 'permanent'],
  [ErrorCode.accessDenied, 'permanent'],
  [ErrorCode.operationDenied, 'permanent'],
  [ErrorCode.noStoragePool, 'permanent'],
])

/** Where the code alone says too little. */
const KIND_OF_WORDS: [RegExp, DriverErrorKind][] = [
  [/no space left|disk quota exceeded/i, 'no_space'],
  [/storage pool .* is not active/i, 'transient'],
  [/already (exists|defined) with uuid/i, 'conflict'],
]

/** `what` is what was asked, such as `start berth-c123`. */
export function toDriverError(error: unknown, what: string, hostId: string): DriverError {
  if (error instanceof DriverError) return error
  const said = error instanceof Error ? error.message : String(error)
  return new DriverError(kindOf(error, said), `Could not ${what} on host ${hostId}: ${said}`, { cause: error })
}

function kindOf(error: unknown, said: string): DriverErrorKind {
  if (error instanceof RemoteError)
    return KIND_OF_WORDS.find(([words]) => words.test(said))?.[1] ?? KIND_OF_CODE.get(error.code) ?? 'transient'
  if (!(error instanceof LibvirtError)) return 'permanent'
  if (error.outcome === 'unknown') return 'unknown_outcome'
  return error instanceof ConnectionLostError ? 'unreachable' : 'transient'
}

export const abortedError = (what: string, hostId: string): DriverError =>
  new DriverError('aborted', `The wait to ${what} on host ${hostId} was ended by its caller`)

/** Undefined when the host does not have it; any other failure stays one. */
export async function undefinedIfNotFound<T>(looking: Promise<T>): Promise<T | undefined> {
  return looking.catch((error: unknown) => {
    if (error instanceof RemoteError && KIND_OF_CODE.get(error.code) === 'not_found') return undefined
    throw error
  })
}
