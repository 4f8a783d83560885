import type { Command } from 'commander'
import { migrateAndSeed } from '../database.ts'
import type { Migrated } from '../kernel/database/migrate.ts'
import { isJson, withExample, withFormat, type OutputOptions } from './admin-command.ts'
import { loadConfig } from './load-config.ts'
import { requireServer, withDatabaseUrl } from './database.ts'
import { show } from './output.ts'
import type { QuickstartOptions } from './quickstart/index.ts'

/** Everything has been stopped by then, so open handles must not keep the process alive. */
const exit = (code: number): never => process.exit(code)

export function processCommands(program: Command): void {
  withExample(
    program.command('up').description('run everything in one process, with an embedded PostgreSQL unless BERTH_DATABASE_URL is set'),
    'up',
  ).action(async () => exit(await (await import('./process/up.ts')).up(loadConfig())))
  for (const role of ['api', 'worker'] as const) {
    withExample(
      program.command(role).description(`run only the ${role}, on BERTH_DATABASE_URL or the database of a running \`up\``),
      role,
    ).action(async () => exit(await (await import('./process/roles.ts')).serve(loadConfig(), role)))
  }
  addQuickstart(program)
  withExample(
    withFormat(
      program
        .command('migrate')
        .description('apply database migrations and seed the catalog')
        .option('--contract', 'remove what only older versions use as well: they cannot be started any more'),
    ),
    'migrate',
  ).action(migrateDatabase)
  withExample(
    withFormat(program.command('doctor').description('check prerequisites and print fixes').argument('[topic]', 'only this check')),
    'doctor database',
  ).action(async (topic: string | undefined, options: OutputOptions) => {
    process.exitCode = await (await import('./doctor/index.ts')).doctor(loadConfig(), topic, isJson(options))
  })
}

function addQuickstart(program: Command): void {
  withExample(
    program
      .command('quickstart')
      .description('create an SSH key, an account with test credit, an API key and a VM, and print how to log in')
      .option('--email <address>', "of the account; default: the owner's, or you@example.com, which the owner takes over")
      .option('--hostname <name>', 'of the VM', 'first')
      .option('--os <template>', 'such as debian-12; by default the one that boots fastest here'),
    'quickstart',
  ).action(async (options: QuickstartOptions) => (await import('./quickstart/index.ts')).quickstart(loadConfig(), options))
}

async function migrateDatabase(options: OutputOptions & { contract?: boolean }): Promise<void> {
  const config = loadConfig()
  const { contract = false } = options
  const migrated = await withDatabaseUrl(config, async (url) => {
    await requireServer(url)
    return migrateAndSeed(config, url, { contract })
  })
  show({ data: migrated, text: describeMigrated(migrated) }, isJson(options))
}

function describeMigrated({ version, applied, waiting, unknown }: Migrated): string {
  const did = applied.length === 0 ? 'no migrations to apply' : `applied ${applied.join(', ')}`
  return [
    `The database is at ${version}: ${did}`,
    ...(unknown.length > 0 ? [`A newer version has added ${unknown.join(', ')}, with which this version works`] : []),
    ...(waiting.length > 0
      ? [`When all processes have this version and are to keep it, run berthd migrate --contract. It applies ${waiting.join(', ')}`]
      : []),
  ].join('\n')
}
