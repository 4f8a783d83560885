import { InvalidArgumentError, type Command } from 'commander'
import { requirePayer } from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import { deleteIdentitiesOf, listLinked } from '../../features/identities/service.ts'
import {
  accountsOf,
  getUserByEmail,
  issuePasswordLink,
  listUsers,
  lockUser,
  ensureUser,
  removeTotp,
  setOperator,
} from '../../features/users/service.ts'
import { dashboardUrl } from '../dashboard-url.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'

export function userCommands(program: Command): void {
  const user = program.command('user').description('users who sign in to the dashboard')
  adminCommand(user.command('list').description('list users'), 'user list', list)
  adminCommand(
    user
      .command('link')
      .description('print a one-time link to set a password, valid for 24 hours')
      .requiredOption('--account <id or email>'),
    'user link --account you@example.com',
    link,
  )
  adminCommand(
    user
      .command('set')
      .description('grant or revoke operator rights, remove a lost second factor, or unlink identity providers')
      .argument('<email>')
      .option('--operator <true or false>', 'access to the operator area', parseBoolean)
      .option('--without-totp', 'disable two-factor authentication')
      .option('--without-identities', 'unlink all accounts of identity providers, and end the sessions that they began'),
    'user set you@example.com --operator true',
    set,
    ({ withoutTotp, withoutIdentities }: Change, email) =>
      [
        withoutTotp ? `${email} loses the second factor: the password alone signs in.` : '',
        withoutIdentities ? `No account of an identity provider signs ${email} in any more: only a password does, set by a link.` : '',
      ]
        .join(' ')
        .trim() || null,
  )
}

async function list({ db }: Admin): Promise<Result> {
  const linked = Map.groupBy(await listLinked(db), ({ user_id }) => user_id)
  const rows = (await listUsers(db, null)).map((row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    account: row.account_ids.join(' '),
    operator: row.is_operator,
    password: row.password_hash !== null,
    totp: row.totp_enabled_at !== null,
    identities: (linked.get(row.id) ?? []).map(({ name, label }) => `${name}:${label}`).join(' '),
    lastSignIn: row.last_seen_at?.toISOString() ?? null,
  }))
  const columns = ['id', 'email', 'account', 'operator', 'password', 'totp', 'identities', 'lastSignIn'] as const
  return table(rows, [...columns], 'There are no users yet: npx berthd owner invite')
}

async function link({ db, config, now }: Admin, input: { account: string }): Promise<Result> {
  const made = await db.tx(async (tx) => {
    const account = await requirePayer(tx, input.account)
    const person = await ensureUser(tx, now, account)
    recordByOperator(tx, now, { accountId: account.id, action: 'user link', resourceIds: [person.id] })
    return issuePasswordLink(tx, now, person.id, dashboardUrl(config), '24h')
  })
  return { data: made, text: `${made.url}\nIt works once, until ${made.expiresAt.toISOString()}` }
}

interface Change {
  operator?: boolean
  withoutTotp?: true
  withoutIdentities?: true
}

async function set({ db, config, now }: Admin, input: Change, email: string): Promise<Result> {
  if (input.operator === undefined && !input.withoutTotp && !input.withoutIdentities)
    throw new UsageError('Nothing to change. For example: npx berthd user set you@example.com --operator true')
  const changed = await db.tx(async (tx) => {
    const person = await lockUser(tx, (await getUserByEmail(tx, email)).id)
    if (input.operator !== undefined) await setOperator(tx, person.id, input.operator)
    if (input.withoutTotp) await removeTotp(tx, person)
    if (input.withoutIdentities) await deleteIdentitiesOf(tx, now, person.id, dashboardUrl(config))
    for (const { accountId } of await accountsOf(tx, person.id))
      recordByOperator(tx, now, { accountId, action: 'user set', resourceIds: [person.id] })
    return lockUser(tx, person.id)
  })
  const data = { id: changed.id, email: changed.email, operator: changed.is_operator, totp: changed.totp_enabled_at !== null }
  return {
    data,
    text: `${data.email} is ${data.operator ? 'an' : 'no'} operator and has ${data.totp ? 'a' : 'no'} second factor`,
  }
}

function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.')
  return text === 'true'
}
