// Names for the flags of the calls, in the words of libvirt's manual. A call takes them as `flags: ['live', 'config']`.

export const ModifyFlag = { live: 1, config: 2 } as const
/** `force`: a medium is changed although the guest has locked the drive. */
export const UpdateDeviceFlag = { ...ModifyFlag, force: 4 } as const
export const ListDomainsFlag = {
  active: 1,
  inactive: 2,
  persistent: 4,
  transient: 8,
  running: 16,
  paused: 32,
  shutoff: 64,
  autostart: 1024,
  noAutostart: 2048,
} as const
/** The same for networks and storage pools. */
export const ListFlag = { inactive: 1, active: 2, persistent: 4, transient: 8, autostart: 16, noAutostart: 32 } as const
export const DeviceFlag = { system: 1, pci: 2, usb: 4, usbInterface: 8, net: 16 } as const
export const DefineFlag = { validate: 1 } as const
export const CreateFlag = { paused: 1, autodestroy: 2, bypassCache: 4, forceBoot: 8, validate: 16, resetNvram: 32 } as const
export const XmlFlag = { secure: 1, inactive: 2, updateCpu: 4, migratable: 8 } as const
export const NetworkXmlFlag = { inactive: 1 } as const
/** None that asks the guest agent, here and in the others: such a call waits for the guest, and would keep slow ones of others from being sent. */
export const ShutdownFlag = { acpiPowerButton: 1, initctl: 4, signal: 8, paravirt: 16 } as const
export const DestroyFlag = { graceful: 1, removeLogs: 2 } as const
export const UndefineFlag = {
  managedSave: 1,
  snapshotsMetadata: 2,
  nvram: 4,
  keepNvram: 8,
  checkpointsMetadata: 16,
  tpm: 32,
  keepTpm: 64,
} as const
export const VcpuFlag = { ...ModifyFlag, maximum: 4, hotpluggable: 16 } as const
export const MemoryFlag = { ...ModifyFlag, maximum: 4 } as const
export const BlockResizeFlag = { bytes: 1, capacity: 2 } as const
export const JobStatsFlag = { completed: 1, keepCompleted: 2 } as const
export const ConsoleFlag = { force: 1, safe: 2 } as const
export const SaveFlag = { bypassCache: 1, running: 2, paused: 4 } as const
export const StatsGroup = {
  state: 1,
  cpuTotal: 2,
  balloon: 4,
  vcpu: 8,
  interface: 16,
  block: 32,
  perf: 64,
  iothread: 128,
  memory: 256,
  dirtyRate: 512,
  vm: 1024,
} as const
/** `nowait` leaves out what a busy domain cannot tell at once. */
export const StatsFlag = { active: 1, inactive: 2, running: 16, paused: 32, shutoff: 64, nowait: 1 << 29, backing: 1 << 30 } as const

export const PoolBuildFlag = { repair: 1, resize: 2, noOverwrite: 4, overwrite: 8 } as const
export const PoolCreateFlag = { withBuild: 1, withBuildOverwrite: 2, withBuildNoOverwrite: 4 } as const
export const VolumeCreateFlag = { preallocateMetadata: 1, reflink: 2 } as const
export const VolumeDeleteFlag = { zeroed: 1, withSnapshots: 2 } as const
export const VolumeResizeFlag = { allocate: 1, delta: 2, shrink: 4 } as const
export const VolumeInfoFlag = { physical: 1 } as const
/** Holes travel as their length instead of as zeros. */
export const VolumeStreamFlag = { sparse: 1 } as const

export const SnapshotCreateFlag = {
  redefine: 1,
  current: 2,
  noMetadata: 4,
  halt: 8,
  diskOnly: 16,
  reuseExternal: 32,
  atomic: 128,
  live: 256,
  validate: 512,
} as const
/** The same for snapshots and checkpoints. */
export const MomentDeleteFlag = { children: 1, metadataOnly: 2, childrenOnly: 4 } as const
export const RevertFlag = { running: 1, paused: 2, force: 4, resetNvram: 8 } as const
export const CheckpointCreateFlag = { redefine: 1, redefineValidate: 4 } as const
export const BackupFlag = { reuseExternal: 1 } as const
export const BlockCommitFlag = { shallow: 1, delete: 2, active: 4, relative: 8, bandwidthBytes: 16 } as const
export const BlockCopyFlag = { shallow: 1, reuseExternal: 2, transientJob: 4, synchronousWrites: 8 } as const
export const BlockRebaseFlag = {
  shallow: 1,
  reuseExternal: 2,
  copyRaw: 4,
  copy: 8,
  relative: 16,
  copyDevice: 32,
  bandwidthBytes: 64,
} as const
export const BlockJobAbortFlag = { async: 1, pivot: 2 } as const

export const PasswordFlag = { encrypted: 1 } as const
export const SshKeysFlag = { append: 1, remove: 2 } as const
export const SetTimeFlag = { sync: 1 } as const
export const GuestInfoGroup = { users: 1, os: 2, timezone: 4, hostname: 8, filesystem: 16, disks: 32, interfaces: 64 } as const
export const MonitorFlag = { hmp: 1 } as const

export const MigrateFlag = {
  live: 1,
  peer2peer: 2,
  tunnelled: 4,
  persistDest: 8,
  undefineSource: 16,
  paused: 32,
  nonSharedDisk: 64,
  nonSharedInc: 128,
  changeProtection: 256,
  unsafe: 512,
  offline: 1024,
  compressed: 2048,
  abortOnError: 4096,
  autoConverge: 8192,
  postcopy: 32768,
  tls: 65536,
  nonSharedSynchronousWrites: 262144,
} as const
