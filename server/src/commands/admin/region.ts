import type { Command } from 'commander'
import { changeRegion, createRegion, listRegions, type RegionInput } from '../../features/catalog/service.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { parseBoolean, table, type Result } from '../output.ts'

export function regionCommands(program: Command): void {
  const region = program.command('region').description('places where VMs run')
  adminCommand(region.command('list').description('list regions'), 'region list', list)
  adminCommand(
    region
      .command('add')
      .description('add a region; it takes VMs once it has a host and public addresses')
      .argument('<slug>', 'such as ams1')
      .requiredOption('--name <name>', 'as customers see it')
      .requiredOption('--country <code>', 'two letters, such as NL')
      .requiredOption('--city <city>')
      .option('--available <true or false>', 'whether it is offered for new VMs', parseBoolean, true),
    'region add ams1 --name "Amsterdam 1" --country NL --city Amsterdam',
    add,
  )
  adminCommand(
    region
      .command('set')
      .description('change a region; its VMs stay as they are')
      .argument('<slug>')
      .option('--name <name>')
      .option('--country <code>')
      .option('--city <city>')
      .option('--available <true or false>', 'whether it is offered for new VMs', parseBoolean),
    'region set ams1 --available false',
    set,
  )
}

const COLUMNS = ['id', 'slug', 'name', 'country', 'city', 'available'] as const

const list = async ({ db }: Admin): Promise<Result> =>
  table(await listRegions(db), [...COLUMNS], 'No regions yet: npx berthd region add --help')

async function add({ db, now }: Admin, { name, country, city, available }: RegionInput, slug?: string): Promise<Result> {
  const region = await db.tx((tx) => createRegion(tx, now, { slug: slug!, name, country, city, available }))
  return { data: region, text: `Region ${region.slug} is added. Next: npx berthd host add <uri> --region ${region.slug}` }
}

async function set({ db }: Admin, { json: _, ...change }: Partial<RegionInput> & { json?: boolean }, slug?: string): Promise<Result> {
  if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. For example: npx berthd region set ams1 --available false')
  const region = await db.tx((tx) => changeRegion(tx, slug!, change))
  return { data: region, text: table([region], [...COLUMNS], '').text }
}
