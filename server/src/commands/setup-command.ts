import { Option, type Command } from 'commander'
import { withExample } from './admin-command.ts'
import { TLS, type Ask, type SetupOptions } from './setup/answers.ts'

export function setupCommands(program: Command): void {
  withExample(
    program
      .command('setup')
      .description(
        'write /etc/berth/berth.env, migrate the database, start the systemd units and print the link of the first operator; asks for what is not given',
      )
      .option('--domain <name>', 'of the dashboard and the API, such as cloud.example.com')
      .addOption(
        new Option('--tls <how>', 'acme: Caddy obtains a certificate; certificate: Caddy with yours; proxy: your own proxy').choices(TLS),
      )
      .option('--certificate <file>', 'for --tls certificate: the certificate and its chain')
      .option('--key <file>', 'for --tls certificate: its private key')
      .option('--acme-directory <url>', "for --tls acme: of another authority than Let's Encrypt; empty: Let's Encrypt again")
      .option('--acme-root <file>', 'for --acme-directory: its root certificate, where this machine does not trust it anyway')
      .option('--database-url <url>', 'such as postgres://berth:secret@db.example.com/berth')
      .option('--database-url-file <file>', 'holds the URL, which then is in no list of processes; - reads it from standard input')
      .option('--local-database', 'create role and database in PostgreSQL of this machine')
      .option('--smtp-url <url>', 'such as smtp://user:password@mail.example.com:587')
      .option('--smtp-url-file <file>', 'holds the URL, which then is in no list of processes; - reads it from standard input')
      .option('--mail-from <sender>', 'such as "Example Cloud <noreply@example.com>"')
      .addOption(
        new Option('--hypervisor <kind>', 'simulated: VMs that only pretend to run, for a trial').choices(['libvirt', 'simulated']),
      ),
    'setup --domain cloud.example.com --tls acme --local-database',
  ).action(async (options: SetupOptions) => (await import('./setup/index.ts')).setup(options, terminal()))
}

/** Null without a terminal. */
function terminal(): Ask | null {
  if (!process.stdin.isTTY) return null
  return async (question, usual) => {
    const { createInterface } = await import('node:readline/promises')
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    const closed = new Promise<never>((_, reject) => lines.once('close', () => reject(new Error('Cancelled. Nothing was changed'))))
    return Promise.race([lines.question(`${question}${usual && ` [${usual}]`}: `), closed]).finally(() => lines.close())
  }
}
