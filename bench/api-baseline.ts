// The floor: what the same answers cost without a framework or a product. One named query, the SHA-256 of the token looked up in
// memory, a counter as limiter, JSON.stringify. Arguments: the database's URL, tokens and accounts as JSON.
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { answerParent } from './vms-process.ts'

interface Customer {
  accountId: string
  token: string
}

type Row = Record<string, never>

const [url, customers] = [process.argv[2]!, JSON.parse(process.argv[3]!) as Customer[]]
const pool = new pg.Pool({ connectionString: url, max: 16 })
const hash = (token: string): string => createHash('sha256').update(token).digest('hex')
const accounts = new Map(customers.map(({ accountId, token }) => [hash(token), accountId]))
const windows = new Map<string, { count: number; endsAt: number }>()

const money = (cents: string): string => {
  const digits = cents.replace('-', '').padStart(3, '0')
  return `${cents.startsWith('-') ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const QUERIES: Record<string, { name: string; text: string; toWire: (row: Row) => unknown }> = {
  '/regions': {
    name: 'regions',
    text: 'select * from regions where $1::text is not null order by position, slug',
    toWire: ({ id, name, slug, country, city, flag, available }) => ({ id, name, slug, country, city, flag, available }),
  },
  '/wallet/transactions': {
    name: 'transactions',
    text: `select t.*, w.transaction_count as total from wallets w join lateral (
      select * from wallet_transactions where account_id = w.account_id and number <= w.transaction_count order by number desc limit 20) t on true
      where w.account_id = $1`,
    toWire: (row) => ({
      id: row['id'],
      type: row['type'],
      description: row['description'],
      referenceType: row['reference_type'],
      referenceId: row['reference_id'],
      createdAt: row['created_at'],
      amount: money(row['amount_cents']!),
      balanceAfter: money(row['balance_after_cents']!),
    }),
  },
  '/ssh-keys': {
    name: 'ssh-keys',
    text: `select k.*, (select count(*)::int from ssh_key_uses u where u.ssh_key_id = k.id) as vm_count, q.used::int as total
      from ssh_keys k join account_quotas q on q.account_id = k.account_id and q.name = 'ssh_keys'
      where k.account_id = $1 order by k.id desc limit 20`,
    toWire: (row) => ({
      id: row['id'],
      name: row['name'],
      labels: row['labels'],
      type: row['type'],
      fingerprint: row['fingerprint'],
      publicKey: row['public_key'],
      vmCount: row['vm_count'],
      createdAt: row['created_at'],
    }),
  },
}

function count(key: string): { left: number; seconds: number } {
  const now = Date.now()
  let window = windows.get(key)
  if (!window || window.endsAt <= now) windows.set(key, (window = { count: 0, endsAt: now + 60_000 }))
  return { left: 1_000_000 - ++window.count, seconds: Math.ceil((window.endsAt - now) / 1000) }
}

async function answer(path: string, token: string, response: ServerResponse): Promise<void> {
  const accountId = accounts.get(hash(token))
  const query = QUERIES[path]
  if (!accountId || !query) return void response.writeHead(accountId ? 404 : 401).end()
  const { left, seconds } = count(accountId)
  const { rows } = await pool.query<Row>({ name: query.name, text: query.text, values: [accountId] })
  const total = rows[0]?.['total']
  const pagination = total === undefined ? {} : { pagination: { page: 1, limit: 20, total, totalPages: Math.ceil(total / 20) } }
  const body = JSON.stringify({ success: true, data: rows.map(query.toWire), ...pagination })
  response
    .writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'x-ratelimit-limit': 1_000_000,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': seconds,
    })
    .end(body)
}

const server = createServer((request, response) => {
  const path = request.url!.replace('/api/public/v1', '').split('?')[0]!
  answer(path, String(request.headers['x-api-key']), response).catch((error: Error) => response.writeHead(500).end(error.message))
})
server.listen(0, '127.0.0.1', () => answerParent(async () => (server.address() as AddressInfo).port))
