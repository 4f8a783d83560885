// `berthd host prepare` runs on the future host, `berthd host certificate` on the control plane.
import type { Command } from 'commander'
import { rangesInUse } from '../../features/hosts/service.ts'
import type { Bundle } from '../../host-setup/setup-step.ts'
import type { Outcome } from '../../host-setup/setup-step.ts'
import { formatCidr } from '../../kernel/cidr.ts'
import { adminCommand, isJson, withExample, withFormat, type Admin, type OutputOptions } from '../admin-command.ts'
import type { Result } from '../output.ts'
import { markOf, print, showLine, toJson } from '../output.ts'

export function hostPrepareCommands(program: Command): void {
  const host = program.commands.find((command) => command.name() === 'host')!
  withExample(
    withFormat(
      host
        .command('prepare')
        .description('set up this machine as a host: packages, libvirt, OVN, storage pool, public network')
        .option('--range <cidr>', 'addresses for VMs; by default 10.77.0.0/16 or the next free one')
        .option('--pool-path <folder>', 'folder for disks; by default /var/lib/libvirt/images/berth')
        .option('--allow <ranges...>', 'private ranges that VMs may reach; by default none')
        .option('--certificate <file>', 'bundle of berthd host certificate: only that control plane may connect')
        .option('--dry-run', 'only print what is missing'),
    ),
    'host prepare --certificate bundle',
  ).action(async (options: PrepareInput) => {
    process.exitCode = await prepare(options)
  })
  adminCommand(
    host
      .command('certificate')
      .description('issue the TLS certificate of a host')
      .requiredOption('--address <address>', 'address or name of the host')
      .requiredOption('--out <file>', 'file to copy to the host'),
    'host certificate --address 10.0.0.5 --out bundle',
    certificate,
  )
}

interface PrepareInput extends OutputOptions {
  range?: string
  poolPath?: string
  allow?: string[]
  certificate?: string
  dryRun?: boolean
}

const NOTES = { ok: '', done: 'done', missing: 'missing', failed: '' }

/** Returns the exit code. A dry run that finds something missing has not failed. */
async function prepare({ range, poolPath, allow, certificate: file, dryRun = false, ...output }: PrepareInput): Promise<number> {
  const json = isJson(output)
  const { prepareHost } = await import('../../host-setup/prepare.ts')
  const bundle = file === undefined ? undefined : await bundleOf(file)
  const printOutcome = ({ status, message, fix }: Outcome): void => {
    showLine(markOf(status), message, NOTES[status])
    if (fix) print(`     ${fix}`)
  }
  const { plan, outcomes } = await prepareHost({ range, poolPath, allowed: allow, bundle, dryRun }, json ? () => {} : printOutcome)
  const ok = plan !== null && outcomes.every(({ status }) => status !== 'failed')
  const next = ok && !dryRun ? nextCommand(plan.tlsAddress, formatCidr(plan.range)) : null
  if (json) print(toJson({ ok, range: plan && formatCidr(plan.range), steps: outcomes, next }))
  else if (next) print(`\nThis host is ready. Add it on the control plane:\n  ${next}`)
  return ok ? 0 : 1
}

async function bundleOf(file: string): Promise<Bundle> {
  const [{ readBundle }, { SetupError }] = await Promise.all([
    import('../../host-setup/bundle.ts'),
    import('../../host-setup/setup-step.ts'),
  ])
  return readBundle(file).catch((error: unknown) => {
    throw error instanceof SetupError ? new Error(`${error.message}\n${error.fix}`) : error
  })
}

const nextCommand = (address: string | null, range: string): string | null =>
  address && `npx berthd host add qemu+tls://${address.includes(':') ? `[${address}]` : address}/system --range ${range}`

async function certificate({ config, db }: Admin, { address, out }: { address: string; out: string }): Promise<Result> {
  const { issueBundle: makeBundle } = await import('../../host-setup/issue-bundle.ts')
  const bundle = await makeBundle(config.dataDir, address, await rangesInUse(db), out)
  const text = [
    `The certificate for ${address} is in ${out}. It contains a private key: copy it to the host, then delete it here.`,
    `On the host:   sudo npx berthd host prepare --certificate ${out}`,
    `Then here:     npx berthd host add qemu+tls://${address.includes(':') ? `[${address}]` : address}/system`,
  ]
  return { data: { address, out, range: bundle.range }, text: text.join('\n') }
}
