// Passwords of guests are hashed the moment they arrive: only the hash goes on from here.
import { encrypt } from 'unixcrypt'
import { randomText } from '../../../kernel/ids.ts'

const SALT = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** SHA-512 crypt, which every Linux guest understands. */
export const hashPassword = (password: string): string => encrypt(password, `$6$${randomText(16, SALT)}`)
