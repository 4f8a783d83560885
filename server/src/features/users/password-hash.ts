// Passwords as Argon2id, computed on threads beside the main one, two at a time: whoever floods us with sign-ins waits, and nobody else.
// The library is loaded with the first of them.
import { createSemaphore } from '../../kernel/semaphore.ts'

const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Of a password that nobody has: to check against it takes as long as against a real one. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$i7GKgwDpsEPvr2LA2tT/GA$3bOdiSaWuKTlSV9B9HNNTWxg5fJOVvNbJFr8XWIKxAs'
const AT_A_TIME = 2

const library = () => import('@node-rs/argon2')

const inTurn = createSemaphore(AT_A_TIME)

export const hashPassword = async (password: string): Promise<string> => {
  const { hash } = await library()
  return inTurn(() => hash(password.normalize('NFC'), COST))
}

/** Whether it is the right one; nobody's is never right. */
export async function verifyPassword(stored: string | null | undefined, given: string): Promise<boolean> {
  const { verify } = await library()
  const matches = await inTurn(() => verify(stored ?? NOBODYS, given.normalize('NFC')))
  return matches && typeof stored === 'string'
}
