import { InvalidArgumentError, Option, type Command } from 'commander'
import { changePlan, createPlan, getPlan, listPlans, type NewPlan, type PlanChange } from '../../features/catalog/service.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { parseBoolean, table, type Result } from '../output.ts'
import { addSign, applySigns } from './signed-list.ts'

export function planCommands(program: Command): void {
  const plan = program.command('plan').description('plans and their prices')
  adminCommand(plan.command('list').description('list plans'), 'plan list', list)
  adminCommand(
    plan
      .command('add')
      .description('add a plan; it is offered at once, where a host is large enough for it and has its traits')
      .argument('<slug>', 'such as d4')
      .requiredOption('--vcpu <number>', '', parseInteger)
      .requiredOption('--ram <MiB>', '', parseInteger)
      .requiredOption('--disk <GiB>', '', parseInteger)
      .requiredOption('--price <amount>', 'a month, such as 7.50')
      .option('--name <name>', 'as customers see it; by default the slug')
      .option('--bandwidth <GB>', 'a month, 0 = unmetered', parseInteger, 0)
      .option('--network-speed <Mbit/s>', '', parseInteger, 1000)
      .option('--throttle-mbps <Mbit/s>', 'speed after the traffic quota is used up', parseInteger, 10)
      .addOption(new Option('--storage <kind>', 'where the disks of its VMs are').choices(['LOCAL', 'REPLICATED']).default('LOCAL'))
      .option('--dedicated-cpu <true or false>', 'each vCPU is a CPU of the host that no other VM has', parseBoolean, false)
      .option('--trait <name>', 'its VMs are placed on hosts with it only; can be repeated', addTo)
      .option('--disk-iops <number>', 'disk operations a second, or none', parseLimit)
      .option('--disk-mib-per-second <MiB/s>', 'disk throughput, or none', parseLimit)
      .option('--region <slug>', 'only there; can be repeated', addTo)
      .option('--available <true or false>', 'whether it is offered for new VMs', parseBoolean, true),
    'plan add d4 --name "Dedicated 4" --vcpu 4 --ram 8192 --disk 100 --price 48.00 --dedicated-cpu true',
    add,
  )
  adminCommand(
    plan
      .command('set')
      .description('change a plan; existing VMs keep their size and pay the new price from their next renewal')
      .argument('<slug>')
      .option('--name <name>')
      .option('--price <amount>', 'a month, such as 7.50')
      .option('--available <true or false>', 'whether it is offered for new VMs', parseBoolean)
      .option('--bandwidth <GB>', 'a month, 0 = unmetered', parseInteger)
      .option('--network-speed <Mbit/s>', '', parseInteger)
      .option('--throttle-mbps <Mbit/s>', 'speed after the traffic quota is used up', parseInteger)
      .option('--disk-iops <number>', 'disk operations a second of new VMs, or none', parseLimit)
      .option('--dedicated-cpu <true or false>', 'each vCPU of new VMs is a CPU of the host that no other VM has', parseBoolean)
      .option('--trait <name>', 'its VMs are placed on hosts with it only; can be repeated', addSign('+'))
      .option('--no-trait <name>', 'it is no longer required', addSign('-'))
      .option('--disk-mib-per-second <MiB/s>', 'disk throughput of new VMs, or none', parseLimit),
    'plan set small --price 7.50',
    set,
  )
}

const COLUMNS = [
  'slug',
  'name',
  'vcpu',
  'ram',
  'disk',
  'storage',
  'bandwidth',
  'networkSpeed',
  'diskIops',
  'diskMiBPerSecond',
  'dedicatedCpu',
  'traits',
  'priceMonthly',
  'currency',
  'available',
] as const

async function list({ db, config }: Admin): Promise<Result> {
  return table(
    await listPlans(db, config.currency),
    [...COLUMNS],
    'No plans yet: npx berthd plan add --help, or npx berthd migrate for those of the catalog',
  )
}

/** Commander turns a null of a parser into '', so `none` stays a word until here. */
type Limit = number | 'none'

/** Commander names the option after its words. */
interface Options extends Omit<PlanChange, 'diskIops' | 'diskMiBPerSecond' | 'traits'> {
  json?: boolean
  diskIops?: Limit
  diskMibPerSecond?: Limit
  trait?: string[]
}

const liftNone = (limit: Limit): number | null => (limit === 'none' ? null : limit)

interface NewOptions extends Pick<NewPlan, 'vcpu' | 'storage' | 'price' | 'throttleMbps' | 'available'> {
  name?: string
  ram: number
  disk: number
  bandwidth: number
  networkSpeed: number
  dedicatedCpu: boolean
  diskIops?: Limit
  diskMibPerSecond?: Limit
  trait?: string[]
  region?: string[]
}

async function add({ db, config, now }: Admin, options: NewOptions, slug?: string): Promise<Result> {
  const {
    vcpu,
    storage,
    price,
    throttleMbps,
    available,
    dedicatedCpu,
    trait,
    region,
    diskIops = 'none',
    diskMibPerSecond = 'none',
  } = options
  const { id } = await db.tx((tx) =>
    createPlan(tx, now, {
      slug: slug!,
      name: options.name ?? slug!,
      vcpu,
      ram_mib: options.ram,
      disk_gib: options.disk,
      storage,
      bandwidth_gb: options.bandwidth,
      network_mbps: options.networkSpeed,
      throttleMbps,
      price,
      diskIops: liftNone(diskIops),
      diskMiBPerSecond: liftNone(diskMibPerSecond),
      dedicatedCpu,
      traits: trait ?? [],
      available,
      regions: region ?? null,
    }),
  )
  return show({ db, config }, id)
}

const addTo = (name: string, before: string[] = []): string[] => [...before, name]

async function show({ db, config }: Pick<Admin, 'db' | 'config'>, id: string): Promise<Result> {
  const plan = (await listPlans(db, config.currency)).find((each) => each.id === id)!
  return { data: plan, text: table([plan], [...COLUMNS], '').text }
}

async function set(
  { db, config }: Admin,
  { json: _, diskIops, diskMibPerSecond, trait, ...rest }: Options,
  slug?: string,
): Promise<Result> {
  const change: PlanChange = {
    ...rest,
    ...(diskIops !== undefined && { diskIops: liftNone(diskIops) }),
    ...(diskMibPerSecond !== undefined && { diskMiBPerSecond: liftNone(diskMibPerSecond) }),
    ...(trait !== undefined && { traits: applySigns((await getPlan(db, slug!)).traits, trait) }),
  }
  if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. For example: npx berthd plan set small --price 7.50')
  const { id } = await db.tx((tx) => changePlan(tx, slug!, change))
  return show({ db, config }, id)
}

const parseLimit = (text: string): Limit => (text === 'none' ? text : parseInteger(text))

function parseInteger(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
