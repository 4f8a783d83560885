// Enumerations of results and events, and of some arguments.

/** VIR_ERR_* of libvirt's virterror.h. */
export const ErrorCode = {
  internal: 1,
  noSupport: 3,
  invalidArgument: 8,
  operationFailed: 9,
  xml: 27,
  domainExists: 28,
  operationDenied: 29,
  system: 38,
  rpc: 39,
  noDomain: 42,
  noNetwork: 43,
  authFailed: 45,
  noStoragePool: 49,
  noStorageVolume: 50,
  operationInvalid: 55,
  noFilter: 62,
  configUnsupported: 67,
  operationTimeout: 68,
  noSnapshot: 72,
  argumentUnsupported: 74,
  operationAborted: 78,
  noMetadata: 80,
  migrateUnsafe: 81,
  operationUnsupported: 84,
  agentUnresponsive: 86,
  resourceBusy: 87,
  accessDenied: 88,
  volumeExists: 90,
  deviceMissing: 99,
  noFilterBinding: 101,
  noCheckpoint: 103,
  noBackup: 104,
  checkpointInconsistent: 109,
} as const

/** VIR_FROM_* of libvirt's virterror.h: the part of libvirt that raised an error. */
export const ErrorOrigin = { qemu: 10, storage: 18, network: 19, domain: 20, filter: 33 } as const

export const CpuComparison = { incompatible: 0, identical: 1, superset: 2 } as const
export const DomainState = { none: 0, running: 1, blocked: 2, paused: 3, shutdown: 4, shutoff: 5, crashed: 6, pmsuspended: 7 } as const
/** Reason of the state `paused`. `ioError`: a read or write failed, and the disk's error policy pauses the guest. */
export const PausedReason = { unknown: 0, user: 1, ioError: 5 } as const
export const PoolState = { inactive: 0, building: 1, running: 2, degraded: 3, inaccessible: 4 } as const
export const VolumeType = { file: 0, block: 1, dir: 2, network: 3, netdir: 4, ploop: 5 } as const

/** `event` of a domain's lifecycle. */
export const DomainLifecycle = {
  defined: 0,
  undefined: 1,
  started: 2,
  suspended: 3,
  resumed: 4,
  stopped: 5,
  shutdown: 6,
  pmsuspended: 7,
  crashed: 8,
} as const
/** `detail` of `stopped`: a guest's own power-off is `shutdown`, a killed QEMU `failed`. */
export const StoppedDetail = { shutdown: 0, destroyed: 1, crashed: 2, migrated: 3, saved: 4, failed: 5, fromSnapshot: 6 } as const
export const NetworkLifecycle = { defined: 0, undefined: 1, started: 2, stopped: 3 } as const
export const PoolLifecycle = { defined: 0, undefined: 1, started: 2, stopped: 3, created: 4, deleted: 5 } as const
export const AgentState = { connected: 1, disconnected: 2 } as const
export const BlockJobType = { unknown: 0, pull: 1, copy: 2, commit: 3, activeCommit: 4, backup: 5 } as const
export const BlockJobStatus = { completed: 0, failed: 1, canceled: 2, ready: 3 } as const
/** What a job does: the parameter `operation` of its statistics. */
export const JobOperation = { migrationIn: 4, migrationOut: 5, backup: 9 } as const
export const JobType = { none: 0, bounded: 1, unbounded: 2, completed: 3, failed: 4, cancelled: 5 } as const

export const MetadataType = { description: 0, title: 1, element: 2 } as const
export const AddressSource = { lease: 0, agent: 1, arp: 2 } as const
export const NetworkUpdateCommand = { modify: 1, delete: 2, addLast: 3, addFirst: 4 } as const
export const NetworkUpdateSection = {
  bridge: 1,
  domain: 2,
  ip: 3,
  dhcpHost: 4,
  dhcpRange: 5,
  forward: 6,
  forwardInterface: 7,
  portgroup: 9,
  dnsHost: 10,
  dnsTxt: 11,
  dnsSrv: 12,
} as const
export const WipeAlgorithm = { zero: 0, random: 8, trim: 9 } as const
/** Seconds are also allowed. */
export const AgentTimeout = { block: -2, standard: -1, nowait: 0 } as const
export const KeycodeSet = { linux: 0, xt: 1, atset1: 2, atset2: 3, atset3: 4, osx: 5, xtKbd: 6, usb: 7, win32: 8, qnum: 9 } as const
/** For `connect.supportsFeature`. */
export const Feature = { keepalive: 10 } as const
export const AuthType = { none: 0, sasl: 1, polkit: 2 } as const
