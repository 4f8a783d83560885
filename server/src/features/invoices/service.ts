// Invoices: one per account and month, derived from the ledger. A reconciler issues them; they are immutable.
import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { notFound, unauthorized } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import type { Invoice, InvoiceSummary } from './schema.ts'
import * as sql from './sql.ts'
import { toInvoice, toSummary } from './view.ts'

export const PATH = '/invoices'

const LINK_LIFE = '1h'
/** A ledger has no limit, an answer and a page have. */
const MOST_LINES = 1_000

export const sellerOf = (config: Config): sql.Seller => ({
  name: config.sellerName,
  address: config.sellerAddress
    .split('|')
    .map((line) => line.trim())
    .filter(Boolean),
  tax: config.sellerTax,
})

export async function listInvoices(db: Queries, accountId: string, page: PageRequest): Promise<Paged<InvoiceSummary>> {
  return pageOf(
    page,
    () => sql.countInvoices(db, accountId),
    async (range) => (await sql.listInvoices(db, accountId, range)).map(toSummary),
  )
}

type LinkDeps = Pick<Deps, 'db' | 'clock' | 'vault' | 'config'>

export async function getInvoice(deps: LinkDeps, accountId: string, id: string): Promise<Invoice> {
  const row = await sql.findInvoice(deps.db, id)
  if (!row || row.account_id !== accountId) throw notFound('Invoice')
  return whole(deps, row)
}

/** Authenticated by the signed link alone, which is valid for an hour. */
export async function openInvoice(
  deps: LinkDeps,
  id: string,
  { expires, signature }: { expires: string; signature: string },
): Promise<Invoice> {
  const given = Buffer.from(signature, 'base64url')
  const wanted = sign(deps.vault, id, expires)
  const isGenuine = given.length === wanted.length && timingSafeEqual(given, wanted)
  if (!isGenuine || Number(expires) <= deps.clock.now().getTime())
    throw unauthorized('This link is not valid, or no longer: get the invoice again, which has a fresh one')
  const row = await sql.findInvoice(deps.db, id)
  if (!row) throw notFound('Invoice')
  return whole(deps, row)
}

async function whole(deps: LinkDeps, row: sql.InvoiceRow): Promise<Invoice> {
  const expires = addDuration(deps.clock.now(), LINK_LIFE).getTime().toString()
  const { publicUrl, host, port } = deps.config
  const link = `${publicUrl ?? `http://${host}:${port}`}${PATH}/${row.id}/page`
  const pageUrl = `${link}?expires=${expires}&signature=${sign(deps.vault, row.id, expires).toString('base64url')}`
  return toInvoice(row, await sql.linesOf(deps.db, row, MOST_LINES), pageUrl)
}

const sign = (vault: Vault, id: string, expires: string): Buffer => vault.digest(`invoice page ${id} ${expires}`)
