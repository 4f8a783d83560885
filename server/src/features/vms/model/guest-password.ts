// Guest passwords are hashed when they are received; the hash is encrypted while it is stored in the action's journal.
import type { Vault } from '../../../kernel/crypto.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { createFairQueue } from '../../../kernel/fair-queue.ts'
import { randomText } from '../../../kernel/ids.ts'
import { sha512Crypt } from './sha512-crypt.ts'

const SALT = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

interface HasVault {
  vault: Vault
}

const inTurn = createFairQueue({
  slots: 1,
  turns: ['guest'],
  maxWaitingPerLane: 64,
  maxWaitingPerClient: 8,
  full: (because) =>
    because === 'lane'
      ? new ApiError('service_unavailable', 'Too many passwords are waiting to be hashed: try again in a few seconds', [], 1)
      : new ApiError('rate_limited', 'Several passwords of this account are being hashed already: try again in a few seconds', [], 1),
})

/** SHA-512 crypt, which every Linux guest supports. Takes about 50 ms of another thread, so it is done before the transaction. */
export const hashGuestPassword = (payerId: string, password: string): Promise<string> =>
  inTurn('guest', payerId, () => sha512Crypt(password, randomText(16, SALT)))

/** Null without a password: no password login. */
export const sealPassword = <T extends string | null>({ vault }: HasVault, vmId: string, hash: T): T =>
  (hash === null ? null : vault.seal(hash, purposeOf(vmId)).toString('base64')) as T

export const openPasswordHash = <T extends string | null>({ vault }: HasVault, vmId: string, sealed: T): T =>
  (sealed === null ? null : vault.open(Buffer.from(sealed, 'base64'), purposeOf(vmId))) as T

const purposeOf = (vmId: string): string => `password:${vmId}`
