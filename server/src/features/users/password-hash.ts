// Argon2id password hashes, computed on worker threads, two at a time: a flood of sign-ins queues here and does not block other requests.
// The library is loaded lazily.
import { createSemaphore } from '../../kernel/semaphore.ts'

const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A dummy hash: verifying against it takes as long as against a real one, so timing does not reveal whether a user exists. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$i7GKgwDpsEPvr2LA2tT/GA$3bOdiSaWuKTlSV9B9HNNTWxg5fJOVvNbJFr8XWIKxAs'
const AT_A_TIME = 2

const library = () => import('@node-rs/argon2')

const inTurn = createSemaphore(AT_A_TIME)

export const hashPassword = async (password: string): Promise<string> => {
  const { hash } = await library()
  return inTurn(() => hash(password.normalize('NFC'), COST))
}

/** False without a stored hash, after the same time. */
export async function verifyPassword(stored: string | null | undefined, given: string): Promise<boolean> {
  const { verify } = await library()
  const matches = await inTurn(() => verify(stored ?? NOBODYS, given.normalize('NFC')))
  return matches && typeof stored === 'string'
}
