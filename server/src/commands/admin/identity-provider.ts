import { InvalidArgumentError, type Command } from 'commander'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import { addProvider, changeProvider, listProviders, removeProvider, type ProviderRow } from '../../features/identities/service.ts'
import { accountsOf, issuePasswordLink } from '../../features/users/service.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { dashboardUrl } from '../dashboard-url.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { readSecret } from './read-secret.ts'

export function identityProviderCommands(program: Command): void {
  const provider = program.command('identity-provider').description('what people sign in to the dashboard with, by OpenID Connect')
  adminCommand(provider.command('list').description('list identity providers'), 'identity-provider list', list)
  adminCommand(
    provider
      .command('add')
      .description('offer to sign in by an identity provider, after it was asked what it can do')
      .argument('<name>', 'lower-case letters, digits and hyphens: in URLs and in audit logs')
      .requiredOption('--issuer <url>', 'exactly as it names itself, such as https://id.example.com/realms/staff')
      .requiredOption('--client-id <id>', 'of this product there')
      .requiredOption('--client-secret-file <file>', 'holds the secret of the client; - reads it from standard input')
      .option('--title <text>', 'of the button "Sign in with …"; by default the name')
      .option('--second-factor', 'whoever it signs in has given two factors: their own one is not asked for'),
    'identity-provider add staff --issuer https://id.example.com/realms/staff --client-id berth --client-secret-file secret --title "Example Inc."',
    add,
  )
  adminCommand(
    provider
      .command('set')
      .description('change the title, the client secret, or whether it stands for a second factor')
      .argument('<name>')
      .option('--title <text>')
      .option('--client-secret-file <file>', 'holds the secret of the client; - reads it from standard input')
      .option('--second-factor <true or false>', 'on false, sessions end that were let in without another one', parseBoolean),
    'identity-provider set staff --client-secret-file secret',
    set,
  )
  adminCommand(
    provider.command('remove').description('end signing in by an identity provider').argument('<name>'),
    'identity-provider remove staff',
    remove,
    (_, name) =>
      `What people linked of ${name} is deleted, and sessions that it began end; adding it again does not bring that back. People stay with all they have. Who has no other way in gets a link to a password, by mail or in the answer of this command.`,
  )
}

const COLUMNS = ['name', 'title', 'issuer', 'clientId', 'secondFactor', 'identities', 'discoveredAt', 'problem'] as const

const shown = (row: ProviderRow, config: Admin['config'], identities: number) => ({
  id: row.id,
  name: row.name,
  title: row.title,
  issuer: row.issuer,
  clientId: row.client_id,
  secondFactor: row.is_second_factor,
  identities,
  discoveredAt: row.discovered_at.toISOString(),
  problem: row.discovery_error,
  redirectUri: `${dashboardUrl(config)}/sign-in/with/${row.name}`,
})

async function list({ db, config }: Admin): Promise<Result> {
  const rows = (await listProviders(db)).map((row) => shown(row, config, row.identities))
  return table(rows, [...COLUMNS], 'There are no identity providers: npx berthd identity-provider add --help')
}

interface Settings {
  issuer: string
  clientId: string
  clientSecretFile: string
  title?: string
  secondFactor?: true
}

async function add({ db, config, now }: Admin, options: Settings, name: string): Promise<Result> {
  const { issuer, clientId, clientSecretFile, title = name, secondFactor = false } = options
  const clientSecret = await readSecret(clientSecretFile)
  const vault = await openVerifiedVault(db, config.masterKeyFile)
  const row = await addProvider({ db, vault, now }, { name, title, issuer, clientId, clientSecret, isSecondFactor: secondFactor })
  const data = shown(row, config, 0)
  return { data, text: `Sign in with ${row.title} is offered now. Allow this redirect URI there, exactly so: ${data.redirectUri}` }
}

interface Change {
  title?: string
  clientSecretFile?: string
  secondFactor?: boolean
}

async function set({ db, config }: Admin, { title, clientSecretFile, secondFactor }: Change, name: string): Promise<Result> {
  const clientSecret = clientSecretFile === undefined ? undefined : await readSecret(clientSecretFile)
  const given = { title, clientSecret, isSecondFactor: secondFactor }
  const change = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (Object.keys(change).length === 0)
    throw new UsageError('Nothing to change. For example: npx berthd identity-provider set staff --title "Example Inc."')
  const row = await changeProvider({ db, vault: await openVerifiedVault(db, config.masterKeyFile) }, name, change)
  const listed = (await listProviders(db)).find(({ id }) => id === row.id)
  const data = shown(row, config, listed?.identities ?? 0)
  return { data, text: table([data], [...COLUMNS], '').text }
}

async function remove({ db, config, now }: Admin, _: object, name: string): Promise<Result> {
  const base = dashboardUrl(config)
  const { people, links } = await db.tx(async (tx) => {
    const removed = await removeProvider(tx, now, name, base)
    for (const { user_id: id } of removed.people)
      for (const { accountId } of await accountsOf(tx, id))
        recordByOperator(tx, now, { accountId, action: 'identity-provider remove', resourceIds: [id] })
    const stranded = removed.people.filter(({ is_last }) => is_last)
    const made: { email: string; url: string }[] = []
    if (config.smtpUrl === null)
      for (const { user_id, email } of stranded) made.push({ email, url: (await issuePasswordLink(tx, now, user_id, base, '7d')).url })
    return { people: removed.people, links: made }
  })
  const stranded = people.filter(({ is_last }) => is_last).map(({ email }) => email)
  const lines = [
    `Nobody signs in by ${name} any more: ${people.length} ${people.length === 1 ? 'person was' : 'people were'} unlinked, ${stranded.length} of them without another way in.`,
    ...(config.smtpUrl === null
      ? links.map(({ email, url }) => `${email}: ${url}`)
      : stranded.map((email) => `${email} is sent a link to a password.`)),
  ]
  return { data: { name, unlinked: people.length, withoutOtherWay: stranded, links }, text: lines.join('\n') }
}

function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.')
  return text === 'true'
}
