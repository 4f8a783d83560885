// Guest passwords are hashed on arrival; the hash is encrypted while it is stored in the action's journal.
import { encrypt } from 'unixcrypt'
import type { Vault } from '../../../kernel/crypto.ts'
import { randomText } from '../../../kernel/ids.ts'

const SALT = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

interface HasVault {
  vault: Vault
}

/** SHA-512 crypt, which every Linux guest supports. */
export const hashGuestPassword = (password: string): string => encrypt(password, `$6$${randomText(16, SALT)}`)

/** Null without a password: no password login. */
export const sealPassword = <T extends string | undefined>(
  { vault }: HasVault,
  vmId: string,
  password: T,
): T extends string ? string : string | null =>
  (password === undefined ? null : vault.seal(hashGuestPassword(password), purposeOf(vmId)).toString('base64')) as never

export const openPasswordHash = <T extends string | null>({ vault }: HasVault, vmId: string, sealed: T): T =>
  (sealed === null ? null : vault.open(Buffer.from(sealed, 'base64'), purposeOf(vmId))) as T

const purposeOf = (vmId: string): string => `password:${vmId}`
