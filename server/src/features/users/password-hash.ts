// Argon2id password hashes, computed on other threads, a few at a time and in turns: a flood of sign-ins waits or is refused here, and
// does not block other requests. The library is loaded lazily.
import { ApiError } from '../../kernel/errors.ts'
import { createFairQueue } from '../../kernel/fair-queue.ts'

const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A dummy hash: verifying against it takes as long as against a real one, so timing does not reveal whether a user exists. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$i7GKgwDpsEPvr2LA2tT/GA$3bOdiSaWuKTlSV9B9HNNTWxg5fJOVvNbJFr8XWIKxAs'
export interface HashClient {
  /** `known`: a signed-in user, or a known address. `newPassword`: the holder of a link, or a sign-up. */
  lane: 'known' | 'unknown' | 'newPassword'
  /** User id or client network. */
  key: string
}

/**
 * Known users have a thread of their own, one of libuv's four, so that strangers cannot delay them. That of strangers has a lower priority:
 * on a small machine a flood of them would take the time of everybody's requests.
 */
const library = ({ lane }: HashClient) => (lane === 'known' ? import('@node-rs/argon2') : import('./argon2-thread.ts'))

const queueOf = <const Lane extends string>(...turns: Lane[]) =>
  createFairQueue<Lane>({
    slots: 1,
    turns,
    maxWaitingPerLane: 32,
    maxWaitingPerClient: 10,
    full: (because) =>
      because === 'lane'
        ? new ApiError('service_unavailable', 'Too many sign-ins are waiting at the moment: try again in a few seconds', [], 1)
        : new ApiError('rate_limited', 'Several of your passwords are being checked already: try again in a few seconds', [], 1),
  })

const [ofKnown, ofOthers] = [queueOf('known'), queueOf('unknown', 'newPassword')]

const inTurn = <T>({ lane, key }: HashClient, work: () => Promise<T>): Promise<T> =>
  lane === 'known' ? ofKnown(lane, key, work) : ofOthers(lane, key, work)

/** Refuses a client whose queue is full, before anything else is done for it. */
export const requireHashingRoom = ({ lane, key }: HashClient): void =>
  lane === 'known' ? ofKnown.requireRoom(lane, key) : ofOthers.requireRoom(lane, key)

export const hashPassword = async (password: string, client: HashClient): Promise<string> => {
  const { hash } = await library(client)
  return inTurn(client, () => hash(password.normalize('NFC'), COST))
}

/** False without a stored hash, after the same time. */
export async function verifyPassword(stored: string | null | undefined, given: string, client: HashClient): Promise<boolean> {
  const { verify } = await library(client)
  const matches = await inTurn(client, () => verify(stored ?? NOBODYS, given.normalize('NFC')))
  return matches && typeof stored === 'string'
}
