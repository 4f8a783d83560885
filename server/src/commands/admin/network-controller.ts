// `berthd network-controller certificate` runs on the control plane, `berthd network-controller prepare` on the machine that shall hold the
// databases of a region's OVN.
import type { Command } from 'commander'
import { adminCommand, withExample, withFormat, type Admin, type OutputOptions } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { openAuthorityStore } from './authority-store.ts'
import { loadBundle, reportOutcomes } from './prepare-report.ts'

export function networkControllerCommands(program: Command): void {
  const controller = program
    .command('network-controller')
    .description('machines that hold the databases of OVN, for hosts on other machines')
  adminCommand(
    controller
      .command('certificate')
      .description('issue the TLS certificate of a network controller')
      .requiredOption('--address <address>', 'of the machine, as hosts and the control plane reach it')
      .option('--members <addresses...>', 'all machines of a cluster, the same list for each: three, of which any may fail')
      .requiredOption('--out <file>', 'file to copy to the machine'),
    'network-controller certificate --address 10.0.0.1 --members 10.0.0.1 10.0.0.2 10.0.0.3 --out bundle',
    certificate,
  )
  withExample(
    withFormat(
      controller
        .command('prepare')
        .description('set up this machine as a network controller: packages, databases of OVN with TLS, northd')
        .option('--certificate <file>', 'bundle of berthd network-controller certificate')
        .option('--dry-run', 'only print what is missing'),
    ),
    'network-controller prepare --certificate bundle',
  ).action(async (options: PrepareInput) => {
    process.exitCode = await prepare(options)
  })
}

interface PrepareInput extends OutputOptions {
  certificate?: string
  dryRun?: boolean
}

/** Returns the exit code. */
async function prepare({ certificate: file, dryRun = false, ...output }: PrepareInput): Promise<number> {
  const { prepareController } = await import('../../host-setup/prepare-controller.ts')
  const bundle = file === undefined ? undefined : await loadBundle(file, 'controller')
  return reportOutcomes(output, async (report) => {
    const outcomes = await prepareController({ bundle, dryRun }, report)
    return { outcomes, ok: outcomes.every(({ status }) => status !== 'failed'), next: null }
  })
}

async function certificate(
  admin: Admin,
  { address, members = [address], out }: { address: string; members?: string[]; out: string },
): Promise<Result> {
  if (!members.includes(address)) throw new UsageError(`--members must contain ${address}, the machine itself`)
  if (members.length % 2 === 0)
    throw new UsageError(
      `A cluster of ${members.length} survives no more failures than one of ${members.length - 1}: give an odd number of --members`,
    )
  if (new Set(members).size < members.length) throw new UsageError('--members contains a machine twice')
  const { issueControllerBundle } = await import('../../host-setup/issue-bundle.ts')
  await issueControllerBundle(await openAuthorityStore(admin), address, members, out)
  const text = [
    `The certificate for ${address} is in ${out}. It contains a private key: copy it to the machine, then delete it here.`,
    `On the machine: sudo npx berthd network-controller prepare --certificate ${out}`,
    `Then here:      npx berthd region set <region> --network-controller ssl:${members.join(',')}`,
  ]
  return { data: { address, members, out }, text: text.join('\n') }
}
