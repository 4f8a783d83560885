// Storage pools and the volumes in them.
import { defaulted, int, str, struct, uhyper, uint } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { bulk, quick, slow, stream } from './procedure.ts'
import { flags, flagsOf, listOf, named, volume } from './structs.ts'

const needResults = defaulted(int, 1)
const pool = named
const poolInfo = struct({ state: uint, capacity: uhyper, allocation: uhyper, available: uhyper })
const volumeInfo = struct({ type: int, capacity: uhyper, allocation: uhyper })
const createFlags = flagsOf(flag.VolumeCreateFlag)
/** A `length` of 0 means to the end. */
const range = { volume, offset: defaulted(uhyper, 0n), length: defaulted(uhyper, 0n), flags: flagsOf(flag.VolumeStreamFlag) }

export const pools = {
  listAll: quick(281, 'CONNECT_LIST_ALL_STORAGE_POOLS', { needResults, flags: flagsOf(flag.ListFlag) }, listOf(pool)),
  lookupByName: quick(84, 'STORAGE_POOL_LOOKUP_BY_NAME', { name: str }, pool),
  define: quick(77, 'STORAGE_POOL_DEFINE_XML', { xml: str, flags: flagsOf(flag.DefineFlag) }, pool),
  build: slow(79, 'STORAGE_POOL_BUILD', { pool, flags: flagsOf(flag.PoolBuildFlag) }),
  create: slow(78, 'STORAGE_POOL_CREATE', { pool, flags: flagsOf(flag.PoolCreateFlag) }),
  createXml: slow(76, 'STORAGE_POOL_CREATE_XML', { xml: str, flags: flagsOf(flag.PoolCreateFlag) }, pool),
  destroy: slow(80, 'STORAGE_POOL_DESTROY', { pool }),
  undefine: quick(82, 'STORAGE_POOL_UNDEFINE', { pool }),
  refresh: slow(83, 'STORAGE_POOL_REFRESH', { pool, flags }),
  getInfo: quick(87, 'STORAGE_POOL_GET_INFO', { pool }, poolInfo),
  getXml: quick(88, 'STORAGE_POOL_GET_XML_DESC', { pool, flags }, str),
  setAutostart: quick(90, 'STORAGE_POOL_SET_AUTOSTART', { pool, autostart: int }),
  listAllVolumes: quick(282, 'STORAGE_POOL_LIST_ALL_VOLUMES', { pool, needResults, flags }, listOf(volume)),
} as const

export const volumes = {
  lookupByName: quick(95, 'STORAGE_VOL_LOOKUP_BY_NAME', { pool, name: str }, volume),
  lookupByPath: quick(97, 'STORAGE_VOL_LOOKUP_BY_PATH', { path: str }, volume),
  create: slow(93, 'STORAGE_VOL_CREATE_XML', { pool, xml: str, flags: createFlags }, volume),
  createFrom: bulk(125, 'STORAGE_VOL_CREATE_XML_FROM', { pool, xml: str, from: volume, flags: createFlags }, volume),
  delete: slow(94, 'STORAGE_VOL_DELETE', { volume, flags: flagsOf(flag.VolumeDeleteFlag) }),
  resize: slow(260, 'STORAGE_VOL_RESIZE', { volume, capacity: uhyper, flags: flagsOf(flag.VolumeResizeFlag) }),
  getInfo: quick(378, 'STORAGE_VOL_GET_INFO_FLAGS', { volume, flags: flagsOf(flag.VolumeInfoFlag) }, volumeInfo),
  getXml: quick(99, 'STORAGE_VOL_GET_XML_DESC', { volume, flags }, str),
  getPath: quick(100, 'STORAGE_VOL_GET_PATH', { volume }, str),
  upload: stream('out', 208, 'STORAGE_VOL_UPLOAD', range),
  download: stream('in', 209, 'STORAGE_VOL_DOWNLOAD', range),
  wipe: bulk(259, 'STORAGE_VOL_WIPE_PATTERN', { volume, algorithm: defaulted(uint, 0), flags }),
} as const
