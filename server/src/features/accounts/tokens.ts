// Authenticates API tokens from an in-memory cache that lives a few seconds. NOTIFY invalidates a revoked or deleted token in every
// process at once; while the LISTEN connection is down, every request reads the database.
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import { coalesce } from '../../kernel/coalesce.ts'
import { isWellFormedToken, sha256Hex } from '../../kernel/crypto.ts'
import type { Db } from '../../kernel/database/db.ts'
import { unauthorized } from '../../kernel/errors.ts'
import type { Authenticate, Principal } from '../../http/api/principal.ts'
import { includesAddress } from './address-ranges.ts'
import { TOKEN_PREFIX } from './token-families.ts'
import * as sql from './sql.ts'

const KEPT_MS = 10_000
const MAX_CACHED = 10_000

type FoundToken = Awaited<ReturnType<typeof sql.findTokensByHash>>[number]

interface Known {
  row: FoundToken
  principal: Principal
  until: number
}

interface Use {
  id: string
  at: Date
  ip: string
  /** Not written at the first attempt: its token was being changed, or is deleted. */
  isLate?: true
}

export interface Tokens {
  authenticate: Authenticate
  hasWorked: (request: FastifyRequest) => boolean
  /** Writes the buffered last-used times and addresses. */
  flush(): Promise<void>
  close(): Promise<void>
}

export async function openTokens(db: Db, clock: Clock): Promise<Tokens> {
  const known = new Map<string, Known>()
  const worked = new Set<string>() // hashes; also of tokens that are no longer cached
  const used = new Map<string, Use>()
  let isListening = false
  let changes = 0 // counts invalidations: a row read before one arrived is not cached
  const onNotify = (hash: string): void => {
    changes++
    known.delete(hash)
    worked.delete(hash)
  }
  const stop = await db.listen('berth_tokens', onNotify, (yes) => {
    isListening = yes
    changes++
    known.clear()
  })

  const recall = (hash: string): Known | undefined => {
    const cached = known.get(hash)
    return cached && cached.until > clock.now().getTime() ? cached : undefined
  }

  // Together, so that a flood of forged tokens costs few queries.
  const find = coalesce(
    async (hashes: string[]): Promise<(FoundToken | undefined)[]> => {
      const rows = await sql.findTokensByHash(
        db,
        hashes.map((hash) => Buffer.from(hash, 'hex')),
      )
      const byHash = new Map(rows.map((row) => [row.hash.toString('hex'), row]))
      return hashes.map((hash) => byHash.get(hash))
    },
    { atATime: 2, most: 500 },
  )

  const lookUp = async (token: string, hash: string): Promise<Known> => {
    if (!isWellFormedToken(TOKEN_PREFIX, token)) throw unauthorized('Invalid API token')
    const before = changes
    const now = clock.now().getTime()
    const row = await find(hash)
    if (!row) throw unauthorized('Invalid API token')
    const principal = {
      accountId: row.account_id,
      payerId: row.payer_id,
      memberOf: row.member_of ?? row.account_id,
      actorType: 'token' as const,
      actorId: row.id,
      actorName: row.name,
      tokenIds: [...row.ancestor_ids, row.id],
      person: row.created_by === null ? null : { id: row.created_by, name: row.maker_email ?? '' },
      hasBudget: row.has_budget,
      scopes: new Set(row.scopes),
      requestsPerMinute: row.requests_per_minute,
      signedIn: null,
    }
    const found = { row, principal, until: now + KEPT_MS }
    if (known.size >= MAX_CACHED) known.clear()
    if (isListening && changes === before) known.set(hash, found)
    return found
  }

  const flush = async (): Promise<void> => {
    const uses = [...used.values()]
    used.clear()
    if (uses.length === 0) return
    const written = new Set((await sql.markTokensUsed(db, uses)).map(({ id }) => id))
    for (const use of uses) if (!written.has(use.id) && !use.isLate && !used.has(use.id)) used.set(use.id, { ...use, isLate: true })
  }

  return {
    async authenticate(request) {
      const token = request.headers['x-api-key']
      if (token === undefined || token === '') throw unauthorized('Missing API token')
      if (typeof token !== 'string') throw unauthorized('Invalid API token')
      const hash = sha256Hex(token)
      const { row, principal } = recall(hash) ?? (await lookUp(token, hash))
      requireUsable(row, request, clock)
      if (worked.size >= MAX_CACHED) worked.clear()
      worked.add(hash)
      used.set(row.id, { id: row.id, at: clock.now(), ip: request.ip })
      return principal
    },
    hasWorked({ headers: { 'x-api-key': token } }) {
      return typeof token === 'string' && worked.has(sha256Hex(token))
    },
    flush,
    async close() {
      await stop()
      await flush()
    },
  }
}

function requireUsable(row: FoundToken, request: FastifyRequest, clock: Clock): void {
  if (row.revoked_at || row.is_orphaned) throw unauthorized('API token has been revoked')
  if (row.expires_at && row.expires_at <= clock.now()) throw unauthorized('API token has expired')
  if (row.allowed_ips.length > 0 && !includesAddress(row.allowed_ips, request.ip))
    throw unauthorized('API token is not allowed from this address')
}
