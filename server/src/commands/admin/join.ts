// `berthd join-token` and `berthd join`: how another machine of the same database gets the master key, without a copy by hand.
import { Option, type Command } from 'commander'
import { existsSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { readOrCreateKey, storeKey } from '../../kernel/crypto.ts'
import { createJoinToken, listJoinTokens, revokeJoinTokens, useJoinToken } from '../../kernel/database/join-token.ts'
import { isStoredKey, readVerifiedKey } from '../../kernel/database/master-key.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { readSecret } from './read-secret.ts'

export function joinCommands(program: Command): void {
  adminCommand(
    program
      .command('join-token')
      .description('print a token by which one other machine gets the master key, within an hour')
      .addOption(new Option('--list', 'show who made and used tokens in the last 90 days instead').conflicts('revoke'))
      .option('--revoke', 'revoke all that were not used yet instead'),
    'join-token',
    joinToken,
  )
  adminCommand(
    program
      .command('join')
      .description('give this machine the master key of the database that BERTH_DATABASE_URL names')
      .argument('[token]', 'of berthd join-token, on a machine that has the key')
      .option('--token-file <file>', 'holds the token, which then is in no list of processes; - reads it from standard input'),
    'join --token-file -',
    join,
  )
}

async function joinToken(admin: Admin, { list, revoke }: { list?: boolean; revoke?: boolean }): Promise<Result> {
  if (list) return listTokens(admin)
  if (!revoke) return invite(admin)
  const revoked = await revokeJoinTokens(admin.db, admin.now)
  return { data: { revoked }, text: revoked === 1 ? 'Revoked 1 token.' : `Revoked ${revoked} tokens.` }
}

async function listTokens({ db, now }: Admin): Promise<Result> {
  const rows = (await listJoinTokens(db)).map((each) => ({
    createdAt: each.created_at.toISOString(),
    madeOn: each.made_on,
    state: each.used_at ? 'used' : each.revoked_at ? 'revoked' : each.expires_at > now ? 'valid' : 'expired',
    usedOn: each.used_on,
    usedAt: each.used_at?.toISOString() ?? null,
  }))
  return table(rows, ['createdAt', 'madeOn', 'state', 'usedOn', 'usedAt'], 'There was no token in the last 90 days.')
}

async function invite({ config, db, now }: Admin): Promise<Result> {
  const key = await readVerifiedKey(db, config.masterKeyFile)
  const { token, expiresAt } = await createJoinToken(db, now, key, hostname())
  const lines = [
    `On the other machine, with the BERTH_DATABASE_URL of this one, until ${expiresAt.toISOString()}:`,
    '  npx berthd join --token-file -',
    'and enter:',
    `  ${token}`,
    'It works once. Whoever has it and the database has the master key: npx berthd join-token --revoke takes it back, --list says who used it.',
  ]
  return { data: { token, expiresAt: expiresAt.toISOString() }, text: lines.join('\n') }
}

async function join({ config, db, now }: Admin, { tokenFile }: { tokenFile?: string }, given?: string): Promise<Result> {
  if (config.databaseUrl === null)
    throw new UsageError('BERTH_DATABASE_URL is not set: a machine joins others by the database that they share')
  if ((given === undefined) === (tokenFile === undefined)) throw new UsageError('Give either a token or --token-file')
  const token = given ?? (await readSecret(tokenFile!))
  const path = config.masterKeyFile
  const isMember = existsSync(path) && (await isStoredKey(db, readOrCreateKey(path)))
  if (existsSync(path) && !isMember)
    throw new Error(
      `The master key ${path} is another one than that of this database. Nothing was changed, and the token can still be used: move that file away, if nothing needs it, and join again`,
    )
  try {
    await db.tx(async (tx) => {
      const key = await useJoinToken(tx, now, token, hostname())
      if (!(await isStoredKey(tx, key))) throw new Error('The token is of another master key than that of this database')
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      storeKey(path, key) // before the commit: who is killed in between joins again by the same token
      if (!readOrCreateKey(path).equals(key)) throw new Error(`Another process has written another master key to ${path} at the same time`)
    })
  } catch (error) {
    if (!isMember) throw error
    throw new Error(`${(error as Error).message}. But this machine has the right master key already: it needs none`, { cause: error })
  }
  const text = [
    `This machine has the master key, in ${path}, and with it all secrets that the database holds: certificates of hosts need no copy.`,
    'Next: npx berthd doctor, then start berthd api and berthd worker here',
  ]
  return { data: { masterKeyFile: path }, text: text.join('\n') }
}
