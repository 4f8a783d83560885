// Argon2id password hashes, computed on worker threads, a few at a time and in turns: a flood of sign-ins waits or is refused here, and
// does not block other requests. The library is loaded lazily.
import { availableParallelism } from 'node:os'
import { ApiError } from '../../kernel/errors.ts'
import { createFairQueue } from '../../kernel/fair-queue.ts'

const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A dummy hash: verifying against it takes as long as against a real one, so timing does not reveal whether a user exists. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$i7GKgwDpsEPvr2LA2tT/GA$3bOdiSaWuKTlSV9B9HNNTWxg5fJOVvNbJFr8XWIKxAs'
/** Leaves half of the processors to other requests, and two of libuv's four threads to files and names. */
const AT_A_TIME = Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)))

export interface HashClient {
  /** `known`: a signed-in user, or a known address. `newPassword`: the holder of a link, or a sign-up. */
  lane: 'known' | 'unknown' | 'newPassword'
  /** User id or client network. */
  key: string
}

const library = () => import('@node-rs/argon2')

const inTurn = createFairQueue<HashClient['lane']>({
  slots: AT_A_TIME,
  turns: ['known', 'known', 'known', 'unknown', 'known', 'known', 'known', 'newPassword'],
  maxWaitingPerLane: 32,
  maxWaitingPerClient: 10,
  full: (because) =>
    because === 'lane'
      ? new ApiError('service_unavailable', 'Too many sign-ins are waiting at the moment: try again in a few seconds', [], 1)
      : new ApiError('rate_limited', 'Several of your passwords are being checked already: try again in a few seconds', [], 1),
})

export const hashPassword = async (password: string, { lane, key }: HashClient): Promise<string> => {
  const { hash } = await library()
  return inTurn(lane, key, () => hash(password.normalize('NFC'), COST))
}

/** False without a stored hash, after the same time. */
export async function verifyPassword(stored: string | null | undefined, given: string, { lane, key }: HashClient): Promise<boolean> {
  const { verify } = await library()
  const matches = await inTurn(lane, key, () => verify(stored ?? NOBODYS, given.normalize('NFC')))
  return matches && typeof stored === 'string'
}
