// libvirt errors as DriverErrors. Codes (VIR_ERR_*) and origins (VIR_FROM_*) decide; the text of an error only where libvirt has no code.
import { constants } from 'node:os'
import { areas, ConnectionLostError, ErrorCode, ErrorOrigin, LibvirtError, RemoteError } from '@berth/libvirt'
import { DriverError, type DriverErrorKind } from '../../driver.ts'

const KIND_OF_CODE = new Map<number, DriverErrorKind>([
  [ErrorCode.noDomain, 'not_found'],
  [ErrorCode.noStorageVolume, 'not_found'],
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

/** Failures of QEMU, qemu-img, the guest agent and other programs, which libvirt passes on as VIR_ERR_INTERNAL_ERROR or
 *  VIR_ERR_OPERATION_FAILED with their text as the only information. libvirt translates its own part of the text, so its daemons run with
 *  LC_ALL=C (host-setup/libvirt-daemons.ts, libvirt/test/command.ts); QEMU does not translate. */
const TEXT = {
  /** strerror of ENOSPC and EDQUOT, from QEMU and qemu-img. */
  noSpace: /no space left|disk quota exceeded/i,
  /** QEMU and qemu-img resize no image with a bitmap that was not closed. */
  inconsistentBitmap: /bitmap .* is inconsistent/i,
  /** QEMU on an image that qemu-img is still writing or that another QEMU has not closed yet. */
  imageNotReady: /failed to get .* lock|not in qcow2 format/i,
  /** QEMU's answer to `device_del` while the guest has not completed an earlier one. */
  unplugPending: /in the process of unplug|guest is busy/i,
  /** The kernel of the destination gives QEMU no userfaultfd. */
  noPostcopy: /postcopy is not supported/i,
  /** libvirt finds no free slot for one more device. */
  noSlot: /no more available pci slots/i,
  /** The guest agent answered with an error, as opposed to not at all. */
  agentRefused: /unable to execute QEMU agent command/,
}

type Text = keyof typeof TEXT

export const matchesText = (text: string, name: Text): boolean => TEXT[name].test(text)

/** For RemoteErrors, and DriverErrors that one of them caused. */
export const hasText = (error: unknown, name: Text): boolean => {
  const remote = remoteErrorOf(error)
  const isUncoded = remote?.code === ErrorCode.internal || remote?.code === ErrorCode.operationFailed
  return isUncoded && matchesText(remote.message, name)
}

/** The daemon's own error behind a DriverError, or the error itself. */
export const remoteErrorOf = (error: unknown): RemoteError | undefined =>
  error instanceof RemoteError ? error : error instanceof DriverError && error.cause instanceof RemoteError ? error.cause : undefined

const DEFINING = new Set([areas.domains.define, areas.domains.createXml].map(({ name }) => name))

/** A domain of that name or UUID exists: active, being started, or being removed. libvirt's list of domains raises VIR_ERR_OPERATION_FAILED and
 *  VIR_ERR_OPERATION_INVALID for it. */
export const isNameTaken = (error: unknown): error is RemoteError =>
  error instanceof RemoteError &&
  (error.code === ErrorCode.operationFailed || error.code === ErrorCode.operationInvalid) &&
  error.origin === ErrorOrigin.domain &&
  DEFINING.has(error.procedure ?? '')

/** `what` is what was requested, such as `start berth-c123`. */
export function toDriverError(error: unknown, what: string, hostId: string): DriverError {
  if (error instanceof DriverError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new DriverError(kindOf(error), `Could not ${what} on host ${hostId}: ${message}`, { cause: error })
}

function kindOf(error: unknown): DriverErrorKind {
  if (error instanceof RemoteError) return kindOfRemote(error)
  if (!(error instanceof LibvirtError)) return 'permanent'
  if (error.outcome === 'unknown') return 'unknown_outcome'
  return error instanceof ConnectionLostError ? 'unreachable' : 'transient'
}

function kindOfRemote(error: RemoteError): DriverErrorKind {
  const { code, origin, errno } = error
  if (errno === constants.errno.ENOSPC || errno === constants.errno.EDQUOT || hasText(error, 'noSpace')) return 'no_space'
  if (code === ErrorCode.operationFailed && isNameTaken(error)) return 'conflict'
  // The pool is inactive or starting, or the volume is being written: both end by themselves or by the operator's hand.
  if (code === ErrorCode.operationInvalid && origin === ErrorOrigin.storage) return 'transient'
  return KIND_OF_CODE.get(code) ?? 'transient'
}

export const abortedError = (what: string, hostId: string): DriverError =>
  new DriverError('aborted', `The wait to ${what} on host ${hostId} was ended by its caller`)

/** Undefined for an object that does not exist; any other failure is thrown. */
export async function undefinedIfNotFound<T>(lookup: Promise<T>): Promise<T | undefined> {
  return lookup.catch((error: unknown) => {
    if (error instanceof RemoteError && KIND_OF_CODE.get(error.code) === 'not_found') return undefined
    throw error
  })
}
