// Secrets that QEMU needs, such as the key of a Ceph user.
import { int, opaque, str, struct } from '../xdr/types.ts'
import { quick } from './procedure.ts'
import { flags, uuid } from './structs.ts'

const secret = struct({ uuid, usageType: int, usageId: str })

export const secrets = {
  define: quick(142, 'SECRET_DEFINE_XML', { xml: str, flags }, secret),
  /** The bytes themselves, not in base64. */
  setValue: quick(144, 'SECRET_SET_VALUE', { secret, value: opaque, flags }),
  undefine: quick(146, 'SECRET_UNDEFINE', { secret }),
} as const
