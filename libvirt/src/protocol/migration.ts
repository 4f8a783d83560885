// Live migration. Peer to peer is one call, `perform`; the other steps are for a client that manages both sides itself.
import { defaulted, int, opaque, optional, str, struct, uhyper } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { parameters } from './parameters.ts'
import { quick, slow } from './procedure.ts'
import { domain, flags, flagsOf } from './structs.ts'

const cookie = defaulted(opaque, new Uint8Array())
const migrateFlags = flagsOf(flag.MigrateFlag)

export const migration = {
  perform: slow(
    305,
    'DOMAIN_MIGRATE_PERFORM3_PARAMS',
    { domain, destination: optional(str), parameters, cookie, flags: migrateFlags },
    opaque,
  ),
  setMaxSpeed: quick(207, 'DOMAIN_MIGRATE_SET_MAX_SPEED', { domain, mibPerSecond: uhyper, flags }),
  setMaxDowntime: quick(166, 'DOMAIN_MIGRATE_SET_MAX_DOWNTIME', { domain, downtimeMs: uhyper, flags }),
  startPostCopy: quick(364, 'DOMAIN_MIGRATE_START_POST_COPY', { domain, flags }),
  begin: slow(302, 'DOMAIN_MIGRATE_BEGIN3_PARAMS', { domain, parameters, flags: migrateFlags }, struct({ cookie: opaque, xml: str })),
  prepare: slow(
    303,
    'DOMAIN_MIGRATE_PREPARE3_PARAMS',
    { parameters, cookie, flags: migrateFlags },
    struct({ cookie: opaque, uri: optional(str) }),
  ),
  finish: slow(
    306,
    'DOMAIN_MIGRATE_FINISH3_PARAMS',
    { parameters, cookie, flags: migrateFlags, cancelled: int },
    struct({ domain, cookie: opaque }),
  ),
  confirm: slow(307, 'DOMAIN_MIGRATE_CONFIRM3_PARAMS', { domain, parameters, cookie, flags: migrateFlags, cancelled: int }),
} as const
