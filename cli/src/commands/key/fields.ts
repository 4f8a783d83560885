import type { SshKey } from '@berth/sdk'
import type { Columns } from '../../answer.ts'
import { time } from '../../format.ts'

export const KEY_FIELDS: Columns<SshKey> = {
  Name: (key) => key.name,
  Id: (key) => key.id,
  Type: (key) => key.type,
  Fingerprint: (key) => key.fingerprint,
  'Public key': (key) => key.publicKey,
  VMs: (key) => key.vmCount,
  Created: (key) => time(key.createdAt),
}
