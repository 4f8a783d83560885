// The connection itself and the machine behind it.
import { array, chars, defaulted, int, optional, str, struct, uhyper } from '../xdr/types.ts'
import { quick } from './procedure.ts'
import * as flag from './flags.ts'
import { flags, flagsOf, listOf } from './structs.ts'

const counters = struct({ counters: array(struct({ field: str, value: uhyper })), count: int })
/** Ask with `count: 0` for the count, then with that count for the values. -1 means all processors or memory cells together. */
const cpuQuery = { cpu: defaulted(int, -1), count: defaulted(int, 0), flags }
/** The two numbers come the other way round here, unlike in libvirt's C function. */
const memoryQuery = { count: defaulted(int, 0), cell: defaulted(int, -1), flags }
const nodeInfo = struct({ model: chars(32), memoryKiB: uhyper, cpus: int, mhz: int, nodes: int, sockets: int, cores: int, threads: int })
const wanted = { emulator: optional(str), arch: optional(str), machine: optional(str), virtType: optional(str), flags }

export const connect = {
  authList: quick(66, 'AUTH_LIST', {}, array(int)),
  authPolkit: quick(70, 'AUTH_POLKIT', {}, int),
  open: quick(1, 'CONNECT_OPEN', { uri: optional(str), flags }),
  close: quick(2, 'CONNECT_CLOSE', {}),
  supportsFeature: quick(60, 'CONNECT_SUPPORTS_FEATURE', { feature: int }, int),
  getLibVersion: quick(157, 'CONNECT_GET_LIB_VERSION', {}, uhyper),
  getVersion: quick(4, 'CONNECT_GET_VERSION', {}, uhyper),
  getHostname: quick(59, 'CONNECT_GET_HOSTNAME', {}, str),
  getUri: quick(110, 'CONNECT_GET_URI', {}, str),
  getCapabilities: quick(7, 'CONNECT_GET_CAPABILITIES', {}, str),
  getDomainCapabilities: quick(342, 'CONNECT_GET_DOMAIN_CAPABILITIES', wanted, str),
  /** Whether the host's processor is at least like that one: see `CpuComparison`. */
  compareCpu: quick(158, 'CONNECT_COMPARE_CPU', { xml: str, flags }, int),
  getNodeInfo: quick(6, 'NODE_GET_INFO', {}, nodeInfo),
  getCpuStats: quick(227, 'NODE_GET_CPU_STATS', cpuQuery, counters),
  getMemoryStats: quick(228, 'NODE_GET_MEMORY_STATS', memoryQuery, counters),
  getFreeMemory: quick(102, 'NODE_GET_FREE_MEMORY', {}, uhyper),
  registerCloseCallback: quick(360, 'CONNECT_REGISTER_CLOSE_CALLBACK', {}),
  unregisterCloseCallback: quick(361, 'CONNECT_UNREGISTER_CLOSE_CALLBACK', {}),
} as const

/** Hardware of the machine. */
export const devices = {
  listAll: quick(
    285,
    'CONNECT_LIST_ALL_NODE_DEVICES',
    { needResults: defaulted(int, 1), flags: flagsOf(flag.DeviceFlag) },
    listOf(struct({ name: str })),
  ),
  getXml: quick(114, 'NODE_DEVICE_GET_XML_DESC', { name: str, flags }, str),
} as const
