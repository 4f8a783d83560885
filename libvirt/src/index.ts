// The public face of @berth/libvirt. Everything else is internal.
export { Connection } from './connection/connection.ts'
export type { CallOptions, CallReport, ConnectionOptions, KeepaliveOptions } from './connection/options.ts'
export { fillHoles, Hole } from './connection/hole.ts'
export type { StreamOf } from './connection/stream.ts'
export {
  ConnectionLostError,
  hasCode,
  LibvirtError,
  ProtocolError,
  RemoteError as RefusedError,
  TimeoutError,
  CancelledError as WithdrawnError,
} from './errors.ts'
export type { Outcome } from './errors.ts'
export { Host } from './host/host.ts'
export type { HostOptions } from './host/options.ts'
export type { LaneName, LaneReport } from './host/managed-connection.ts'
export * from './protocol/constants.ts'
export type { EventName, EventOf } from './protocol/events.ts'
export * from './protocol/flags.ts'
export { areas } from './protocol/index.ts'
export { Param } from './protocol/parameters.ts'
export type { Parameters, Scalar, TypedValue } from './protocol/parameters.ts'
export { bulk, qemu, quick, slow, stream } from './protocol/procedure.ts'
export type { Direction, Procedure, StreamProcedure } from './protocol/procedure.ts'
export * as shapes from './protocol/structs.ts'
export type { Domain, Moment, Named, Volume } from './protocol/structs.ts'
export { tls } from './transport/tls.ts'
export type { TlsOptions } from './transport/tls.ts'
export type { Endpoint } from './transport/transport.ts'
export { unix } from './transport/unix.ts'
export * as xdr from './xdr/types.ts'
