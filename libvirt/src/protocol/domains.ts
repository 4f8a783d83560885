// Domains: what libvirt calls a virtual machine.
import { array, defaulted, hyper, int, opaque, optional, str, struct, uhyper, uint } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { parameters } from './parameters.ts'
import { byGuest, quick, slow, stream } from './procedure.ts'
import { domain, flags, flagsOf, listOf, uuid } from './structs.ts'

const needResults = defaulted(int, 1)
const modify = flagsOf(flag.ModifyFlag)
const device = { domain, xml: str, flags: modify }
const info = struct({ state: uint, maxMemoryKiB: uhyper, memoryKiB: uhyper, vcpus: uint, cpuTimeNs: uhyper })
const blockInfo = struct({ allocation: uhyper, capacity: uhyper, physical: uhyper })
/** Ask with `count: 0` for the count, then with that count for the values. */
const counted = struct({ parameters, count: int })
const metadata = { domain, type: int, metadata: optional(str), key: optional(str), uri: optional(str), flags: modify }
const keys = { domain, codeset: defaulted(uint, 0), holdMs: defaulted(uint, 0), codes: array(uint), flags }
const blockStats = { domain, disk: str, count: defaulted(int, 0), flags }
const ioTune = { domain, disk: optional(str), count: defaulted(int, 0), flags: modify }
const address = struct({ type: int, address: str, prefix: uint })
/** Without a flag libvirt asks the guest agent first. */
const powerButton = { domain, flags: defaulted(flagsOf(flag.ShutdownFlag), ['acpiPowerButton']) }
const addresses = array(struct({ name: str, mac: optional(str), addresses: array(address) }))
const interfaceStats = struct({
  rxBytes: hyper,
  rxPackets: hyper,
  rxErrors: hyper,
  rxDropped: hyper,
  txBytes: hyper,
  txPackets: hyper,
  txErrors: hyper,
  txDropped: hyper,
})
/** No domains means all of them. */
const statsQuery = { domains: defaulted(array(domain), []), groups: flagsOf(flag.StatsGroup), flags: flagsOf(flag.StatsFlag) }

export const domains = {
  listAll: quick(273, 'CONNECT_LIST_ALL_DOMAINS', { needResults, flags: flagsOf(flag.ListDomainsFlag) }, listOf(domain)),
  lookupByName: quick(23, 'DOMAIN_LOOKUP_BY_NAME', { name: str }, domain),
  lookupByUuid: quick(24, 'DOMAIN_LOOKUP_BY_UUID', { uuid }, domain),
  define: quick(350, 'DOMAIN_DEFINE_XML_FLAGS', { xml: str, flags: flagsOf(flag.DefineFlag) }, domain),
  create: slow(196, 'DOMAIN_CREATE_WITH_FLAGS', { domain, flags: flagsOf(flag.CreateFlag) }, domain),
  createXml: slow(10, 'DOMAIN_CREATE_XML', { xml: str, flags: flagsOf(flag.CreateFlag) }, domain),
  getXml: quick(14, 'DOMAIN_GET_XML_DESC', { domain, flags: flagsOf(flag.XmlFlag) }, str),
  getInfo: quick(16, 'DOMAIN_GET_INFO', { domain }, info),
  getState: quick(212, 'DOMAIN_GET_STATE', { domain, flags }, struct({ state: int, reason: int })),
  suspend: slow(34, 'DOMAIN_SUSPEND', { domain }),
  resume: slow(28, 'DOMAIN_RESUME', { domain }),
  wakeUp: slow(267, 'DOMAIN_PM_WAKEUP', { domain, flags }),
  shutdown: slow(258, 'DOMAIN_SHUTDOWN_FLAGS', powerButton),
  reboot: slow(27, 'DOMAIN_REBOOT', powerButton),
  reset: slow(245, 'DOMAIN_RESET', { domain, flags }),
  destroy: slow(234, 'DOMAIN_DESTROY_FLAGS', { domain, flags: flagsOf(flag.DestroyFlag) }),
  undefine: slow(231, 'DOMAIN_UNDEFINE_FLAGS', { domain, flags: flagsOf(flag.UndefineFlag) }),
  setAutostart: quick(29, 'DOMAIN_SET_AUTOSTART', { domain, autostart: int }),
  setMetadata: quick(264, 'DOMAIN_SET_METADATA', metadata),
  getMetadata: quick(265, 'DOMAIN_GET_METADATA', { domain, type: int, uri: optional(str), flags: modify }, str),
  attachDevice: slow(160, 'DOMAIN_ATTACH_DEVICE_FLAGS', device),
  detachDevice: slow(161, 'DOMAIN_DETACH_DEVICE_FLAGS', device),
  detachDeviceByAlias: slow(392, 'DOMAIN_DETACH_DEVICE_ALIAS', { domain, alias: str, flags: modify }),
  updateDevice: slow(174, 'DOMAIN_UPDATE_DEVICE_FLAGS', { domain, xml: str, flags: flagsOf(flag.UpdateDeviceFlag) }),
  setVcpus: slow(199, 'DOMAIN_SET_VCPUS_FLAGS', { domain, vcpus: uint, flags: flagsOf(flag.VcpuFlag) }),
  /** `map` has a bit for each CPU of the host, that of CPU 0 lowest in the first byte. */
  pinVcpu: slow(225, 'DOMAIN_PIN_VCPU_FLAGS', { domain, vcpu: uint, map: opaque, flags: modify }),
  pinEmulator: slow(279, 'DOMAIN_PIN_EMULATOR', { domain, map: opaque, flags: modify }),
  setMemory: slow(204, 'DOMAIN_SET_MEMORY_FLAGS', { domain, memoryKiB: uhyper, flags: flagsOf(flag.MemoryFlag) }),
  setMemoryStatsPeriod: slow(308, 'DOMAIN_SET_MEMORY_STATS_PERIOD', { domain, periodSeconds: int, flags: modify }),
  blockResize: slow(251, 'DOMAIN_BLOCK_RESIZE', { domain, disk: str, size: uhyper, flags: flagsOf(flag.BlockResizeFlag) }),
  getBlockInfo: quick(194, 'DOMAIN_GET_BLOCK_INFO', { domain, disk: str, flags }, blockInfo),
  getBlockStats: quick(243, 'DOMAIN_BLOCK_STATS_FLAGS', blockStats, counted),
  setBlockIoTune: slow(252, 'DOMAIN_SET_BLOCK_IO_TUNE', { domain, disk: str, parameters, flags: modify }),
  getBlockIoTune: quick(253, 'DOMAIN_GET_BLOCK_IO_TUNE', ioTune, counted),
  setScheduler: slow(219, 'DOMAIN_SET_SCHEDULER_PARAMETERS_FLAGS', { domain, parameters, flags: modify }),
  getJobStats: quick(298, 'DOMAIN_GET_JOB_STATS', { domain, flags: flagsOf(flag.JobStatsFlag) }, struct({ type: int, parameters })),
  abortJob: quick(164, 'DOMAIN_ABORT_JOB', { domain }),
  /** The stream's `reply` is the MIME type of the picture. */
  screenshot: stream('in', 211, 'DOMAIN_SCREENSHOT', { domain, screen: defaulted(uint, 0), flags }, optional(str)),
  openConsole: stream('both', 201, 'DOMAIN_OPEN_CONSOLE', { domain, device: optional(str), flags: flagsOf(flag.ConsoleFlag) }),
  openChannel: stream('both', 296, 'DOMAIN_OPEN_CHANNEL', { domain, name: optional(str), flags: flagsOf(flag.ConsoleFlag) }),
  /** One source is the guest agent. */
  getAddresses: byGuest(slow(353, 'DOMAIN_INTERFACE_ADDRESSES', { domain, source: defaulted(uint, 0), flags }, addresses)),
  getInterfaceStats: quick(65, 'DOMAIN_INTERFACE_STATS', { domain, device: str }, interfaceStats),
  getAllStats: quick(344, 'CONNECT_GET_ALL_DOMAIN_STATS', statsQuery, array(struct({ domain, stats: parameters }))),
  managedSave: slow(182, 'DOMAIN_MANAGED_SAVE', { domain, flags: flagsOf(flag.SaveFlag) }),
  removeManagedSave: slow(184, 'DOMAIN_MANAGED_SAVE_REMOVE', { domain, flags }),
  sendKey: quick(226, 'DOMAIN_SEND_KEY', keys),
  setInterfaceParameters: slow(256, 'DOMAIN_SET_INTERFACE_PARAMETERS', { domain, device: str, parameters, flags: modify }),
  getInterfaceParameters: quick(
    257,
    'DOMAIN_GET_INTERFACE_PARAMETERS',
    { domain, device: str, count: defaulted(int, 0), flags: modify },
    counted,
  ),
} as const
