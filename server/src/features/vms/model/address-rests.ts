// The public IPv4 address of a deleted VM rests before somebody else gets it. By making and deleting VMs an account could have every address of a
// pool rest, so they count beside its VMs.
import type { Tx } from '../../../kernel/database/db.ts'
import { counted } from '../../../kernel/counted.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { quotaLimit, quotaUsed } from '../../accounts/service.ts'
import { restsOfVms } from '../../hosts/public-addresses.ts'

/** Of accounts with a small limit of VMs. */
const MIN_RESTS = 5n

/** As many may rest as the account can have VMs, so that it can replace all of them at once. Call it after the quota of the new VM was reserved,
 *  whose lock keeps other creations and deletions of the account away. */
export async function requireFewRests(tx: Tx, now: Date, accountId: string): Promise<void> {
  const { count, firstUntil } = await restsOfVms(tx, now, accountId)
  if (firstUntil === null) return
  const [limit, used] = [await quotaLimit(tx, accountId, 'vms'), await quotaUsed(tx, accountId, 'vms')]
  const most = limit + (limit > MIN_RESTS ? limit : MIN_RESTS)
  if (used + count <= most) return
  const resting = counted(count, 'resting address of a deleted VM', 'resting addresses of deleted VMs')
  throw new ApiError(
    'quota_exceeded',
    `Quota exceeded: ${counted(used - 1n, 'VM')} and ${resting} are in use, and ${most} together are allowed. The first address has rested at ${firstUntil.toISOString()}: try again then, set publicIpv4 to false, or ask support for more VMs`,
    [],
    Math.max(1, Math.ceil((firstUntil.getTime() - now.getTime()) / 1000)),
  )
}
