// One search over everything that an account has. It needs no scope of its own: each kind is found by who may read it.
import type { Principal } from '../../http/api/principal.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { parseIp } from '../../kernel/ip-range.ts'
import type { SearchQuery, SearchResult } from './schema.ts'
import { findMatches, type FoundRow } from './sql.ts'

export const search = async (
  db: Queries,
  reader: Pick<Principal, 'accountId' | 'scopes'>,
  { q, limit }: SearchQuery,
): Promise<SearchResult[]> => (await findMatches(db, reader, { text: q, ip: parseIp(q) && q, limit })).map(toResult)

const toResult = ({ kind, id, name, detail, vm_id, labels }: FoundRow): SearchResult => ({
  kind,
  id,
  name,
  detail,
  ...(vm_id !== null && { vmId: vm_id }),
  ...(labels && { labels }),
})
