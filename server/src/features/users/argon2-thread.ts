// Argon2id on a thread of lower priority, with the functions of the library: a flood of strangers takes the time that requests leave over.
import { hashSync, type Options, verifySync } from '@node-rs/argon2'
import { openThread, serveThread } from '../../kernel/low-priority-thread.ts'

const ROLE = 'argon2'

interface Order {
  password: string
  /** To verify against; without it the password is hashed. */
  stored?: string
  cost?: Options
}

serveThread(ROLE, ({ password, stored, cost }: Order) => (stored === undefined ? hashSync(password, cost) : verifySync(stored, password)))

const order = openThread<Order, string | boolean>(import.meta.url, ROLE)

export const hash = (password: string, cost: Options) => order({ password, cost }) as Promise<string>
export const verify = (stored: string, password: string) => order({ password, stored }) as Promise<boolean>
