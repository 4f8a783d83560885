// Which VM had which public address when. Whoever gives or takes one records it in the same transaction; intervals of an address never overlap.
import type { Queries } from '../../kernel/database/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseIp } from '../../kernel/ip-range.ts'
import * as sql from './sql.ts'

export type { HolderRow } from './sql.ts'

/** Call it after the VM's own addresses have changed, or its row is gone. */
export const recordAddressesOfVm = sql.recordOfVm

/** Call it after a floating address has got another VM, or has none. */
export const recordFloatingAddress = sql.recordFloating

const MOST_HOLDERS = 200

/** `at`: null lists all that are known, newest first. */
export function listHolders(db: Queries, address: string, at: Date | null): Promise<sql.HolderRow[]> {
  if (parseIp(address) === null) throw notFound('Address') // no IPv4 or IPv6 address at all
  return sql.listHolders(db, address, at, MOST_HOLDERS)
}
