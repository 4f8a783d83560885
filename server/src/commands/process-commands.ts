import type { Command } from 'commander'
import { migrateAndSeed } from '../database.ts'
import { loadConfig, withExample } from './admin-command.ts'
import { requireServer, withDatabaseUrl } from './database.ts'
import { show } from './output.ts'
import type { QuickstartOptions } from './quickstart/index.ts'

/** A serving process ends by itself once it has stopped everything: what may still be open then is not worth waiting for. */
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
    program.command('migrate').description('bring the database up to date and fill in the catalog').option('--json', 'print JSON'),
    'migrate',
  ).action(migrateDatabase)
  withExample(
    program
      .command('doctor')
      .description('check prerequisites and print fixes')
      .argument('[topic]', 'only this check')
      .option('--json', 'print JSON'),
    'doctor database',
  ).action(async (topic: string | undefined, { json = false }: { json?: boolean }) => {
    process.exitCode = await (await import('./doctor/index.ts')).doctor(loadConfig(), topic, json)
  })
}

function addQuickstart(program: Command): void {
  withExample(
    program
      .command('quickstart')
      .description('make an SSH key, an account with test credit, an API key and a VM, and say how to log in')
      .option('--email <address>', 'of the account', 'you@example.com')
      .option('--hostname <name>', 'of the VM', 'first')
      .option('--os <template>', 'such as debian-12; the one that boots fastest here unless given'),
    'quickstart',
  ).action(async (options: QuickstartOptions) => (await import('./quickstart/index.ts')).quickstart(loadConfig(), options))
}

async function migrateDatabase({ json = false }: { json?: boolean }): Promise<void> {
  const config = loadConfig()
  const { version, applied } = await withDatabaseUrl(config, async (url) => {
    await requireServer(url)
    return migrateAndSeed(config, url)
  })
  const did = applied.length === 0 ? 'nothing was missing' : `applied ${applied.join(', ')}`
  show({ data: { version, applied }, text: `The database is at ${version}: ${did}` }, json)
}
