import type { Body, Vm } from '@berth/sdk'
import { priceOf, quoteDetails, VM_COLUMNS, VM_FIELDS } from '../columns.ts'
import type { CommandContext } from '../command-context.ts'
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { LABEL, labelsOf, omitUndefined, parseInteger, readTextOrFile, readUserData, splitList } from '../options.ts'
import { isId } from '../resolve-id.ts'
import { details, message, table, type CommandResult } from '../result.ts'

interface Options {
  os?: string
  fromBackup?: string
  region?: string
  plan?: string
  vcpu?: string
  ram?: string
  disk?: string
  bandwidth?: string
  networkSpeed?: string
  name?: string
  key?: string[]
  password?: string
  firewall?: string[]
  network?: string[]
  volume?: string[]
  placementGroup?: string
  userData?: string
  dailyBackups?: true
  network10g?: true
  ipv6Only?: true
  protect?: true
  count?: string
  alternative?: string[]
  label?: string[]
  dryRun?: true
}

export type CustomSize = Pick<Options, 'vcpu' | 'ram' | 'disk' | 'bandwidth' | 'networkSpeed'>

export const CUSTOM_SIZE: [string, string][] = [
  ['--vcpu <number>', 'custom size instead of a plan; requires --ram and --disk'],
  ['--ram <MiB>', 'memory of a custom size'],
  ['--disk <GiB>', 'disk of a custom size'],
  ['--bandwidth <GB>', 'traffic a month of a custom size, where it is sold'],
  ['--network-speed <Mbit/s>', 'network speed of a custom size, where it is sold'],
]

export const createVm = defineCommand<Options>({
  name: 'create',
  description: 'create a VM',
  args: '<hostname>',
  options: [
    ['--os <os>', 'OS template or own image; see berth os list, berth image list (required without --from-backup)'],
    ['--from-backup <backup>', 'begin with the disk of a backup instead: <vm>/<backup>, or its id'],
    ['--region <region>', 'region; see berth region list; default: the only available one'],
    ['--plan <plan>', 'plan; see berth plan list; default: the default plan'],
    ...CUSTOM_SIZE,
    ['--name <name>', 'display name; default: the hostname'],
    ['--key <key...>', 'SSH keys to install'],
    ['--password <password>', 'console password; - reads stdin, @file reads a file'],
    ['--firewall <firewall...>', 'firewalls to bind'],
    ['--network <network...>', 'private networks to attach'],
    [
      '--volume <volume...>',
      'volumes that it has from its first start: free ones, or new ones as name=<name>,size=<GiB> with storage=local or replicated',
    ],
    ['--placement-group <group>', 'placement group; see berth placement-group list'],
    ['--user-data <text>', 'what cloud-init does at the first boot: a script or #cloud-config; - reads stdin, @file reads a file'],
    ['--daily-backups', 'enable daily backups'],
    ['--network-10g', '10 Gbit/s network'],
    ['--ipv6-only', 'no public IPv4 address, for less where it has a price'],
    ['--protect', 'protect from delete, rebuild and restore'],
    ['--count <number>', 'so many VMs that are alike, 1-20, all or none; {n} in hostname and name is the number of each'],
    [
      '--alternative <choice...>',
      'what to take if there is no room, tried in this order: plan=<plan>, region=<region> or both with a comma; vcpu=, ram= and disk= for a custom size',
    ],
    LABEL,
  ],
  example: 'vm create web-1 --os debian-12 --plan small --key laptop',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, options, hostname: string) {
    const body = await buildRequest(ctx, options, hostname)
    if (options.dryRun) return quoteDetails(await ctx.berth.vms.quoteCreate(body))
    // The users of a backup can log in as before.
    const hasLogin = body.fromBackupId !== undefined || body.password !== undefined || body.sshKeyIds!.length > 0
    if (!hasLogin && isInteractive(ctx.io))
      ctx.printNote(`Warning: without --key or --password nobody can log in to ${hostname} until a password is set`)
    await ctx.ask(async () => `Creating ${hostname} ${priceOf(await ctx.berth.vms.quoteCreate(body))}`)
    const created = await ctx.berth.vms.create(body)
    if (typeof created.alternative === 'number')
      ctx.printNote(`There was no room for what was asked for: ${options.alternative![created.alternative]} was taken instead`)
    if (created.vms) return finishAll(ctx, created.vms, created.actionIds!)
    const done = await ctx.finish(created, `creating ${created.vm.name}`, async () => {
      const vm = await ctx.berth.vms.get(created.vmId)
      return { ...details(vm, VM_FIELDS), hint: `To log in: berth vm ssh ${vm.name}` }
    })
    return hasLogin ? done : { ...done, hint: noLoginHint(created.vm.name) }
  },
})

/** They are built at the same time, so that waiting for one after the other takes no longer. */
async function finishAll(ctx: CommandContext, vms: Vm[], actionIds: string[]): Promise<CommandResult> {
  if (ctx.options.wait === false) {
    const each = vms.map(
      ({ id, name }, index) => `Action ${actionIds[index]} started for ${name}. To wait: berth action wait ${id} ${actionIds[index]}`,
    )
    return message({ vms, actionIds }, actionIds.join('\n'), each.join('\n'))
  }
  for (const [index, { id, name }] of vms.entries()) await ctx.waitFor(id, actionIds[index]!, `creating ${name}`)
  return table(await Promise.all(vms.map(({ id }) => ctx.berth.vms.get(id))), VM_COLUMNS, 'No VMs')
}

const noLoginHint = (name: string): string =>
  `It has no SSH key and no password. To log in: berth vm password ${name}, then berth vm console ${name}; for SSH, create VMs with --key`

async function buildRequest(ctx: CommandContext, options: Options, hostname: string): Promise<Body<'createVm'>> {
  const [regionId, source, planId, sshKeyIds, firewallIds, privateNetworkIds, placementGroupId] = await Promise.all([
    ctx.resolveRegionId(options.region),
    resolveSource(ctx, options),
    options.plan && ctx.resolveId('plan', options.plan),
    ctx.resolveIds('key', splitList(options.key)),
    ctx.resolveIds('firewall', splitList(options.firewall)),
    ctx.resolveIds('network', splitList(options.network)),
    options.placementGroup && ctx.resolveId('placement-group', options.placementGroup),
  ])
  return {
    regionId,
    ...source,
    hostname,
    sshKeyIds,
    firewallIds,
    privateNetworkIds,
    ...labelsOf(options),
    ...omitUndefined({
      planId: planId || undefined,
      customConfig: customSize(options),
      name: options.name,
      placementGroupId: placementGroupId || undefined,
      password: options.password && readTextOrFile(options.password).trim(),
      userData: options.userData && readUserData(options.userData),
      dailyBackupEnabled: options.dailyBackups,
      network10gEnabled: options.network10g,
      publicIpv4: options.ipv6Only && false,
      isProtected: options.protect,
      count: options.count === undefined ? undefined : parseInteger('--count', options.count),
      volumes: options.volume && (await Promise.all(options.volume.map((text) => parseVolume(ctx, text)))),
      alternatives: options.alternative && (await Promise.all(options.alternative.map((text) => parseAlternative(ctx, text)))),
    }),
  }
}

type VmVolume = NonNullable<Body<'createVm'>['volumes']>[number]

/** `name=data,size=50`, or the name or id of one that is there. */
async function parseVolume(ctx: CommandContext, text: string): Promise<VmVolume> {
  if (!text.includes('=')) return { volumeId: await ctx.resolveId('volume', text) }
  const fields = Object.fromEntries(
    text.split(',').map((part) => {
      const [, key, value] = /^(name|size|storage)=(.+)$/.exec(part) ?? []
      if (!key || !value)
        throw usageError(`--volume ${text}: give a free volume, or name= and size= of a new one, such as name=data,size=50`)
      return [key, value]
    }),
  )
  return {
    name: fields['name'] ?? '',
    sizeGiB: parseInteger('--volume size', fields['size'] ?? ''),
    ...(fields['storage'] && { storage: fields['storage'].toUpperCase() as 'LOCAL' | 'REPLICATED' }),
  }
}

type Alternative = NonNullable<Body<'createVm'>['alternatives']>[number]

/** `region=ams1,plan=medium` */
async function parseAlternative(ctx: CommandContext, text: string): Promise<Alternative> {
  const fields = new Map<string, string>()
  for (const part of text.split(',')) {
    const [, key, value] = /^(region|plan|vcpu|ram|disk)=(.+)$/.exec(part) ?? []
    if (!key || !value || fields.has(key))
      throw usageError(
        `--alternative ${text}: give region=, plan= or a custom size with vcpu=, ram= and disk=, such as region=ams1,plan=small`,
      )
    fields.set(key, value)
  }
  const [region, plan] = [fields.get('region'), fields.get('plan')]
  const size = customSize(omitUndefined({ vcpu: fields.get('vcpu'), ram: fields.get('ram'), disk: fields.get('disk') }))
  return {
    ...(region && { regionId: await ctx.resolveId('region', region) }),
    ...(plan && { planId: await ctx.resolveId('plan', plan) }),
    ...(size && { customConfig: size }),
  }
}

async function resolveSource(
  ctx: CommandContext,
  { os, fromBackup }: Options,
): Promise<{ osTemplateId: string } | { fromBackupId: string }> {
  if (os && fromBackup) throw usageError('Give either --os or --from-backup, not both')
  if (fromBackup) return { fromBackupId: await resolveBackupId(ctx, fromBackup) }
  if (!os) throw usageError('--os is required, such as --os debian-12; see berth os list')
  return { osTemplateId: await ctx.resolveId('os', os) }
}

async function resolveBackupId(ctx: CommandContext, text: string): Promise<string> {
  if (isId(text)) return text
  const [, vm, backup] = /^([^/]+)\/(.+)$/.exec(text) ?? []
  if (!vm || !backup) throw usageError('--from-backup takes <vm>/<backup>, such as web-1/monday, or the id of a backup')
  return ctx.resolveId('backup', backup, await ctx.resolveId('vm', vm))
}

export function customSize({ vcpu, ram, disk, bandwidth, networkSpeed }: CustomSize): Body<'createVm'>['customConfig'] {
  if (!vcpu && !ram && !disk && !bandwidth && !networkSpeed) return undefined
  if (!vcpu || !ram || !disk) throw usageError('A custom size requires all of --vcpu, --ram and --disk')
  return {
    vcpu: parseInteger('--vcpu', vcpu),
    ram: parseInteger('--ram', ram),
    disk: parseInteger('--disk', disk),
    ...(bandwidth && { bandwidth: parseInteger('--bandwidth', bandwidth) }),
    ...(networkSpeed && { networkSpeed: parseInteger('--network-speed', networkSpeed) }),
  }
}
