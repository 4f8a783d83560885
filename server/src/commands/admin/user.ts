import { InvalidArgumentError, type Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import {
  getPersonByEmail,
  issuePasswordLink,
  listPeople,
  lockPerson,
  ensureUser,
  removeTotp,
  setOperator,
} from '../../features/users/service.ts'
import type { Config } from '../../config.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'

export function personCommands(program: Command): void {
  const person = program.command('person').description('who signs in to the dashboard')
  adminCommand(person.command('list').description('list people'), 'person list', list)
  adminCommand(
    person
      .command('link')
      .description("print a link with which an account's person sets a password; it works once, for 24 hours")
      .requiredOption('--account <id or email>'),
    'person link --account you@example.com',
    link,
  )
  adminCommand(
    person
      .command('set')
      .description('make somebody an operator or no longer one, or remove a second factor that was lost')
      .argument('<email>')
      .option('--operator <true or false>', 'whether the operator area is theirs too', flag)
      .option('--without-totp', 'remove the second factor'),
    'person set you@example.com --operator true',
    set,
  )
}

/** Where the dashboard is, for links. */
export const dashboardOf = ({ publicUrl, host, port }: Config): string =>
  publicUrl?.replace(/\/$/, '') ?? `http://${host.includes(':') ? `[${host}]` : host.replace('0.0.0.0', '127.0.0.1')}:${port}`

async function list({ db }: Admin): Promise<Result> {
  const rows = (await listPeople(db, null)).map((row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    account: row.account_id,
    operator: row.is_operator,
    password: row.password_hash !== null,
    totp: row.totp_enabled_at !== null,
    lastSignIn: row.last_seen_at?.toISOString() ?? null,
  }))
  const columns = ['id', 'email', 'account', 'operator', 'password', 'totp', 'lastSignIn'] as const
  return table(rows, [...columns], 'Nobody signs in yet: npx berthd account welcome')
}

async function link({ db, config, now }: Admin, input: { account: string }): Promise<Result> {
  const made = await db.tx(async (tx) => {
    const account = await getAccount(tx, input.account)
    const person = await ensureUser(tx, now, account)
    recordByOperator(tx, now, { accountId: account.id, action: 'person link', resourceIds: [person.id] })
    return issuePasswordLink(tx, now, person.id, dashboardOf(config), '24h')
  })
  return { data: made, text: `${made.url}\nIt works once, until ${made.expiresAt.toISOString()}` }
}

async function set({ db, now }: Admin, input: { operator?: boolean; withoutTotp?: true }, email: string): Promise<Result> {
  if (input.operator === undefined && !input.withoutTotp)
    throw new UsageError('Say what to change, for example: npx berthd person set you@example.com --operator true')
  const changed = await db.tx(async (tx) => {
    const person = await lockPerson(tx, (await getPersonByEmail(tx, email)).id)
    if (input.operator !== undefined) await setOperator(tx, person.id, input.operator)
    if (input.withoutTotp) await removeTotp(tx, person)
    recordByOperator(tx, now, { accountId: person.account_id, action: 'person set', resourceIds: [person.id] })
    return lockPerson(tx, person.id)
  })
  const data = { id: changed.id, email: changed.email, operator: changed.is_operator, totp: changed.totp_enabled_at !== null }
  return {
    data,
    text: `${data.email} is ${data.operator ? 'an' : 'no'} operator and has ${data.totp ? 'a' : 'no'} second factor`,
  }
}

function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.')
  return text === 'true'
}
