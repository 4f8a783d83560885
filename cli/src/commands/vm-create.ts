import type { Body } from '@berth/sdk'
import { record } from '../answer.ts'
import type { Call } from '../call.ts'
import { priced, VM_FIELDS } from '../columns.ts'
import { verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { given, textOrFile, whole, words } from '../options.ts'

interface Options {
  os: string
  region?: string
  plan?: string
  vcpu?: string
  ram?: string
  disk?: string
  name?: string
  key?: string[]
  password?: string
  firewall?: string[]
  network?: string[]
  dailyBackups?: true
  network10g?: true
  protect?: true
  dryRun?: true
}

export const createVm = verb<Options>({
  name: 'create',
  about: 'create a VM',
  args: '<hostname>',
  options: [
    ['--os <os>', 'OS template, as in berth os list (required)'],
    ['--region <region>', 'as in berth region list; the only one unless given'],
    ['--plan <plan>', 'as in berth plan list; the default plan unless given'],
    ['--vcpu <number>', 'a size of your own instead of a plan, with --ram and --disk'],
    ['--ram <MiB>', 'memory of a size of your own'],
    ['--disk <GiB>', 'disk of a size of your own'],
    ['--name <name>', 'the hostname unless given'],
    ['--key <key...>', 'SSH keys that may log in'],
    ['--password <password>', 'for the console; - reads it from stdin, @file from a file'],
    ['--firewall <firewall...>', 'firewalls to bind'],
    ['--network <network...>', 'private networks to attach'],
    ['--daily-backups', 'back it up every day'],
    ['--network-10g', '10 Gbit/s'],
    ['--protect', 'refuse to delete or rebuild it'],
  ],
  example: 'vm create web-1 --os debian-12 --plan small --key laptop',
  waits: true,
  priced: true,
  async run(call, options, hostname: string) {
    const body = await bodyOf(call, options, hostname)
    if (options.dryRun) return priced(await call.berth.vms.quoteCreate(body))
    const created = await call.berth.vms.create(body)
    return call.finish(created, `creating ${created.vm.name}`, async () => {
      const vm = await call.berth.vms.get(created.vmId)
      return { ...record(vm, VM_FIELDS), hint: `To log in: berth vm ssh ${vm.name}` }
    })
  },
})

async function bodyOf(call: Call, options: Options, hostname: string): Promise<Body<'createVm'>> {
  if (!options.os) throw wrongUsage('Say which OS: --os debian-12, or another of berth os list')
  const [regionId, osTemplateId, planId, sshKeyIds, firewallIds, privateNetworkIds] = await Promise.all([
    regionOf(call, options.region),
    call.id('os', options.os),
    options.plan && call.id('plan', options.plan),
    call.ids('key', words(options.key)),
    call.ids('firewall', words(options.firewall)),
    call.ids('network', words(options.network)),
  ])
  return {
    regionId,
    osTemplateId,
    hostname,
    sshKeyIds,
    firewallIds,
    privateNetworkIds,
    ...given({
      planId: planId || undefined,
      customConfig: ownSize(options),
      name: options.name,
      password: options.password && textOrFile(options.password).trim(),
      dailyBackupEnabled: options.dailyBackups,
      network10gEnabled: options.network10g,
      isProtected: options.protect,
    }),
  }
}

async function regionOf(call: Call, region: string | undefined): Promise<string> {
  if (region) return call.id('region', region)
  const regions = (await call.berth.regions.list()).filter(({ available }) => available)
  if (regions.length === 1) return regions[0]!.id
  throw wrongUsage(`Say where: --region ${regions.map(({ slug }) => slug).join(' or ') || 'and one of berth region list'}`)
}

function ownSize({ vcpu, ram, disk }: Options): Body<'createVm'>['customConfig'] {
  if (!vcpu && !ram && !disk) return undefined
  if (!vcpu || !ram || !disk) throw wrongUsage('A size of your own takes all of --vcpu, --ram and --disk')
  return { vcpu: whole('--vcpu', vcpu), ram: whole('--ram', ram), disk: whole('--disk', disk) }
}
