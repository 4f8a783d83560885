import type { Command } from 'commander'
import {
  createToken,
  getAccount,
  getToken,
  listTokens,
  revokeToken,
  setTokenLimits,
  type FamilyChange,
  type TokenRow,
} from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { oneLine, table, type Result } from '../output.ts'

export function tokenCommands(program: Command): void {
  const token = program.command('token').description("customers' API tokens")
  adminCommand(
    token
      .command('create')
      .description('create a token; its secret is shown only once')
      .requiredOption('--account <id or email>')
      .requiredOption('--name <name>', 'what it is for')
      .requiredOption('--scopes <scopes>', "such as '*', 'vms:*' or 'vms:read,wallet:read'")
      .option('--expires-at <time>', 'ISO 8601, such as 2030-01-31 or 2030-01-31T12:00:00Z')
      .option('--rate-limit <number>', 'requests per minute, 600 by default')
      .option('--allow-ip <addresses...>', 'only these addresses or ranges may use it'),
    "token create --account you@example.com --name laptop --scopes '*'",
    create,
  )
  adminCommand(
    token.command('list').description('list tokens, without their secrets').option('--account <id or email>'),
    'token list --account you@example.com',
    list,
  )
  adminCommand(
    token
      .command('set')
      .description('change the limits of a token; its secret stays')
      .argument('<id>')
      .option('--rate-limit <number>', 'requests per minute')
      .option('--allow-ip <addresses...>', 'only these addresses or ranges may use it')
      .option('--allow-any-ip', 'all addresses may use it'),
    'token set cmh5x0a2b1c3d4e5f6g7h8i9j --rate-limit 5000',
    set,
  )
  adminCommand(
    token.command('revoke').description('revoke a token and all made with it; they stay listed').argument('<id>'),
    'token revoke cmh5x0a2b1c3d4e5f6g7h8i9j',
    async (admin, _, id) => tokenResult(await changed(admin, 'token revoke', (tx) => revokeToken(tx, admin.now, id!)), 'revoked'),
    (_, id) => `Whatever uses the token ${id}, or one that was made with it, stops working.`,
  )
  adminCommand(
    token.command('delete').description('delete a token and all made with it; they stop working immediately').argument('<id>'),
    'token delete cmh5x0a2b1c3d4e5f6g7h8i9j',
    remove,
    (_, id) => `Whatever uses the token ${id}, or one that was made with it, stops working, and the token is forgotten.`,
  )
}

interface NewToken {
  account: string
  name: string
  scopes: string
  expiresAt?: string
  rateLimit?: string
  allowIp?: string[]
}

async function create(admin: Admin, input: NewToken): Promise<Result> {
  const { db, now } = admin
  const { deps, record } = await loadEvents(admin)
  const wanted = {
    name: input.name,
    scopes: splitList(input.scopes),
    expiresAt: input.expiresAt === undefined ? null : parseTime(input.expiresAt),
    allowedIps: (input.allowIp ?? []).flatMap(splitList),
    ...(input.rateLimit !== undefined && { requestsPerMinute: Number(input.rateLimit) }),
  }
  const made = await db.tx(async (tx) => {
    const { id: accountId } = await getAccount(tx, input.account)
    const token = await createToken(tx, now, accountId, wanted)
    recordByOperator(tx, now, { accountId, action: 'token create', resourceIds: [token.id] })
    await record(tx, deps, 'token.created', [await getToken(tx, accountId, token.id)])
    return token
  })
  const data = { id: made.id, token: made.token, name: wanted.name, expiresAt: wanted.expiresAt }
  return { data, text: `${made.token}\nThe token is shown only once. Its id is ${made.id}` }
}

interface Limits {
  rateLimit?: string
  allowIp?: string[]
  allowAnyIp?: true
}

async function set(admin: Admin, { rateLimit, allowIp, allowAnyIp }: Limits, id?: string): Promise<Result> {
  if (rateLimit === undefined && allowIp === undefined && !allowAnyIp)
    throw new UsageError('Give at least one of --rate-limit, --allow-ip and --allow-any-ip')
  if (allowIp && allowAnyIp) throw new UsageError('Give either --allow-ip or --allow-any-ip')
  const limits = {
    ...(rateLimit !== undefined && { requestsPerMinute: Number(rateLimit) }),
    ...((allowIp || allowAnyIp) && { allowedIps: (allowIp ?? []).flatMap(splitList) }),
  }
  const row = await changed(admin, 'token set', (tx) => setTokenLimits(tx, admin.now, id!, limits))
  const from = row.allowed_ips.length === 0 ? 'from all addresses' : `from ${row.allowed_ips.join(', ')}`
  return {
    data: { id: row.id, name: row.name, rateLimit: row.requests_per_minute, allowedIps: row.allowed_ips },
    text: `Token ${oneLine(row.name)} (${row.id}) has ${row.requests_per_minute} requests a minute, ${from}`,
  }
}

async function list({ db, now }: Admin, input: { account?: string }): Promise<Result> {
  const accountId = input.account === undefined ? null : (await getAccount(db, input.account)).id
  const rows = (await listTokens(db, accountId)).map((row) => ({
    id: row.id,
    account: row.email,
    name: row.name,
    prefix: row.prefix,
    status: row.revoked_at ? 'revoked' : row.expires_at && row.expires_at <= now ? 'expired' : 'active',
    scopes: row.scopes,
    rateLimit: row.requests_per_minute,
    allowedIps: row.allowed_ips,
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedIp: row.last_used_ip,
    createdAt: row.created_at.toISOString(),
  }))
  const shown = table(
    rows.map((row) => ({ ...row, scopes: row.scopes.length > 3 ? `${row.scopes.length} scopes` : row.scopes })),
    ['id', 'account', 'name', 'prefix', 'status', 'scopes', 'expiresAt', 'lastUsedAt', 'lastUsedIp'],
    'No tokens yet: npx berthd token create --help',
  )
  return { data: rows, text: shown.text }
}

/** Like the hooks, not for commands that record nothing. */
async function loadEvents(admin: Admin) {
  const { deleteToken, record } = await import('../../features/tokens/service.ts')
  return { deps: await loadEventDeps(admin), deleteToken, record }
}

/** With what it means for the tokens that were made with it. */
async function changed(admin: Admin, action: string, change: (tx: Tx) => Promise<FamilyChange>): Promise<TokenRow> {
  const { deps, record } = await loadEvents(admin)
  return admin.db.tx(async (tx) => {
    const { token, narrowed, revoked } = await change(tx)
    recordByOperator(tx, admin.now, { accountId: token.account_id, action, resourceIds: [token.id] })
    await record(tx, deps, 'token.updated', action === 'token set' ? [token, ...narrowed] : narrowed)
    await record(tx, deps, 'token.revoked', revoked)
    return token
  })
}

async function remove(admin: Admin, _: object, id?: string): Promise<Result> {
  const { deps, deleteToken } = await loadEvents(admin)
  const row = await admin.db.tx(async (tx) => {
    const { token } = await deleteToken(tx, deps, id!)
    recordByOperator(tx, admin.now, { accountId: token.account_id, action: 'token delete', resourceIds: [token.id] })
    return token
  })
  return tokenResult(row, 'deleted')
}

const tokenResult = ({ id, name }: { id: string; name: string }, status: string): Result => ({
  data: { id, name, status },
  text: `Token ${oneLine(name)} (${id}) is ${status}`,
})

const splitList = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

function parseTime(text: string): Date {
  const [, day] = ISO_TIME.exec(text) ?? []
  const moment = new Date(text)
  // Date rolls 30 February over to 2 March.
  const real = day !== undefined && !Number.isNaN(moment.getTime()) && new Date(day).toISOString().startsWith(day)
  if (!real) throw invalid(`"${text}" is not a time such as 2030-01-31 or 2030-01-31T12:00:00Z`, 'expiresAt')
  return moment
}
