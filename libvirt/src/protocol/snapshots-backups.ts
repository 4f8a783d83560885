// Snapshots, checkpoints, backups and the block jobs beneath them.
import { defaulted, int, optional, str, struct, uhyper } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { parameters } from './parameters.ts'
import { quick, slow } from './procedure.ts'
import { domain, flags, flagsOf, listOf, moment } from './structs.ts'

const needResults = defaulted(int, 1)
const bandwidth = defaulted(uhyper, 0n)
const deleteFlags = flagsOf(flag.MomentDeleteFlag)
const commit = { domain, disk: str, base: optional(str), top: optional(str), bandwidth, flags: flagsOf(flag.BlockCommitFlag) }
const copy = { domain, path: str, destinationXml: str, parameters, flags: flagsOf(flag.BlockCopyFlag) }
/** `found` is 0 when no job runs on that disk. */
const jobInfo = struct({ found: int, type: int, bandwidth: uhyper, current: uhyper, end: uhyper })

export const snapshots = {
  create: slow(185, 'DOMAIN_SNAPSHOT_CREATE_XML', { domain, xml: str, flags: flagsOf(flag.SnapshotCreateFlag) }, moment),
  listAll: quick(274, 'DOMAIN_LIST_ALL_SNAPSHOTS', { domain, needResults, flags }, listOf(moment)),
  lookupByName: quick(189, 'DOMAIN_SNAPSHOT_LOOKUP_BY_NAME', { domain, name: str, flags }, moment),
  getXml: quick(186, 'DOMAIN_SNAPSHOT_GET_XML_DESC', { snapshot: moment, flags: flagsOf(flag.XmlFlag) }, str),
  delete: slow(193, 'DOMAIN_SNAPSHOT_DELETE', { snapshot: moment, flags: deleteFlags }),
  revert: slow(192, 'DOMAIN_REVERT_TO_SNAPSHOT', { snapshot: moment, flags: flagsOf(flag.RevertFlag) }),
} as const

export const blockJobs = {
  commit: slow(290, 'DOMAIN_BLOCK_COMMIT', commit),
  copy: slow(345, 'DOMAIN_BLOCK_COPY', copy),
  rebase: slow(266, 'DOMAIN_BLOCK_REBASE', { domain, disk: str, base: optional(str), bandwidth, flags: flagsOf(flag.BlockRebaseFlag) }),
  getInfo: quick(238, 'DOMAIN_GET_BLOCK_JOB_INFO', { domain, disk: str, flags }, jobInfo),
  abort: slow(237, 'DOMAIN_BLOCK_JOB_ABORT', { domain, disk: str, flags: flagsOf(flag.BlockJobAbortFlag) }),
  setSpeed: quick(239, 'DOMAIN_BLOCK_JOB_SET_SPEED', { domain, disk: str, bandwidth, flags }),
} as const

export const backups = {
  begin: slow(421, 'DOMAIN_BACKUP_BEGIN', { domain, xml: str, checkpointXml: optional(str), flags: flagsOf(flag.BackupFlag) }),
  getXml: quick(422, 'DOMAIN_BACKUP_GET_XML_DESC', { domain, flags }, str),
} as const

export const checkpoints = {
  create: slow(411, 'DOMAIN_CHECKPOINT_CREATE_XML', { domain, xml: str, flags: flagsOf(flag.CheckpointCreateFlag) }, moment),
  listAll: quick(413, 'DOMAIN_LIST_ALL_CHECKPOINTS', { domain, needResults, flags }, listOf(moment)),
  lookupByName: quick(415, 'DOMAIN_CHECKPOINT_LOOKUP_BY_NAME', { domain, name: str, flags }, moment),
  getXml: quick(412, 'DOMAIN_CHECKPOINT_GET_XML_DESC', { checkpoint: moment, flags }, str),
  delete: slow(417, 'DOMAIN_CHECKPOINT_DELETE', { checkpoint: moment, flags: deleteFlags }),
} as const
