// `berthd host prepare` runs on the future host, `berthd host certificate` on the control plane.
import type { Command } from 'commander'
import { rangesInUse } from '../../features/hosts/service.ts'
import { getRegion } from '../../features/catalog/service.ts'
import { tlsUri } from '../../hypervisor/host-address.ts'
import { controllersIn } from '../../hypervisor/network-controller-address.ts'
import { formatCidr } from '../../kernel/cidr.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { adminCommand, isJson, withExample, withFormat, type Admin, type OutputOptions } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { print, show, type Result } from '../output.ts'
import { openAuthorityStore } from './authority-store.ts'
import type { FetchInput } from './fetch-bundle.ts'
import { onlyRegion } from './only-region.ts'
import { loadBundle, reportOutcomes } from './prepare-report.ts'

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
        .option('--uplink <card>', "network card or bond of the public network, also the one that has this host's address; none: NAT")
        .option('--vlan <number>', 'VLAN of the public network on the uplink')
        .option('--certificate <file>', 'bundle of berthd host certificate: only that control plane may connect')
        .option('--dry-run', 'only print what is missing'),
    ),
    'host prepare --certificate bundle',
  ).action(async (options: PrepareInput) => {
    process.exitCode = await prepare(options)
  })
  withExample(
    withFormat(
      host
        .command('fetch-bundle')
        .description('fetch the certificates of this machine, by a token of the dashboard (Hosts, Add host)')
        .argument('<url>', 'of the dashboard')
        .requiredOption('--token-file <file>', 'holds the token; - reads it from standard input')
        .requiredOption('--out <file>', 'for `host prepare --certificate`'),
    ),
    'host fetch-bundle https://cloud.example.com --token-file - --out bundle',
  ).action(async (url: string, options: FetchInput & OutputOptions) => {
    const { fetchBundle } = await import('./fetch-bundle.ts') // imported on demand: it loads the features of hosts
    show(await fetchBundle(url, options), isJson(options))
  })
  adminCommand(
    host
      .command('certificate')
      .description('issue the TLS certificate of a host')
      .requiredOption('--address <address>', 'address or name of the host')
      .option('--region <slug>', 'required when there are several')
      .requiredOption('--out <file>', 'file to copy to the host'),
    'host certificate --address 10.0.0.5 --out bundle',
    certificate,
  )
}

interface PrepareInput extends OutputOptions {
  range?: string
  poolPath?: string
  allow?: string[]
  uplink?: string
  vlan?: string
  certificate?: string
  dryRun?: boolean
}

/** Returns the exit code. A dry run that finds something missing has not failed. */
async function prepare({
  range,
  poolPath,
  allow,
  uplink,
  vlan,
  certificate: file,
  dryRun = false,
  ...output
}: PrepareInput): Promise<number> {
  const { prepareHost } = await import('../../host-setup/prepare.ts')
  const bundle = file === undefined ? undefined : await loadBundle(file, 'host')
  const code = await reportOutcomes(output, async (report) => {
    const number = vlan === undefined ? undefined : Number(vlan)
    const { plan, outcomes } = await prepareHost({ range, poolPath, allowed: allow, uplink, vlan: number, bundle, dryRun }, report)
    const ok = plan !== null && outcomes.every(({ status }) => status !== 'failed')
    const next = ok && !dryRun && !bundle?.isEnrolled ? nextCommand(plan.tlsAddress, plan.uplink ? 'none' : formatCidr(plan.range)) : null
    return { ok, range: plan && formatCidr(plan.range), outcomes, next }
  })
  if (code === 0 && !dryRun && bundle?.isEnrolled && !isJson(output))
    print('\nThis host is ready. The control plane adds it within seconds.')
  return code
}

const nextCommand = (address: string | null, range: string): string | null =>
  address && `npx berthd host add ${tlsUri(address)} --range ${range}`

async function certificate(admin: Admin, { address, region, out }: { address: string; region?: string; out: string }): Promise<Result> {
  const { db } = admin
  const { issueBundle: makeBundle } = await import('../../host-setup/issue-bundle.ts')
  const { id: regionId, slug } = await getRegion(db, region ?? (await onlyRegion(db)))
  const controllers = await controllersOf(db, slug)
  const order = { regionId, inUse: await rangesInUse(db), controllers }
  const bundle = await makeBundle(await openAuthorityStore(admin), address, order, out)
  const text = [
    `The certificate for ${address} is in ${out}. It contains a private key: copy it to the host, then delete it here.`,
    `On the host:   sudo npx berthd host prepare --certificate ${out}`,
    `Then here:     npx berthd host add ${tlsUri(address)}`,
  ]
  return { data: { address, out, range: bundle.range }, text: text.join('\n') }
}

/** Null where the region has none yet: the host then has one of its own. */
async function controllersOf(db: Queries, slug: string): Promise<string[] | null> {
  const { network_controller: uri } = await getRegion(db, slug)
  const controllers = uri && controllersIn(uri)
  if (!uri || controllers) return controllers || null
  throw new UsageError(
    `The network controller of region ${slug} is ${uri}, which other machines do not reach. Let it serve them first:\n` +
      '  npx berthd network-controller certificate --address <address of this machine> --out bundle\n' +
      '  sudo npx berthd network-controller prepare --certificate bundle\n' +
      `  npx berthd region set ${slug} --network-controller ssl:<address of this machine>`,
  )
}
