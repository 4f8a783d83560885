// SHA-512 crypt on a thread of its own: unixcrypt computes it in JavaScript, 5,000 rounds that would block all other requests.
import { encrypt } from 'unixcrypt'
import { openThread, serveThread } from '../../../kernel/low-priority-thread.ts'

const ROLE = 'sha512-crypt'

interface Order {
  password: string
  salt: string
}

serveThread(ROLE, ({ password, salt }: Order) => encrypt(password, `$6$${salt}`))

const order = openThread<Order, string>(import.meta.url, ROLE)

export const sha512Crypt = (password: string, salt: string): Promise<string> => order({ password, salt })
