import type { Command } from 'commander'
import { changeRecovery, changeRegion, createRegion, getRegion, listRegions, type RegionInput } from '../../features/catalog/service.ts'
import { changeNetworkController } from '../../features/hosts/service.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { isNetworkController } from '../../hypervisor/network-controller-address.ts'
import { adminCommand, silentLog, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { parseBoolean, table, type Result } from '../output.ts'
import { openAccess } from './authority-store.ts'

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
      .option('--available <true or false>', 'whether it is offered for new VMs', parseBoolean)
      .option('--network-controller <address>', 'where its networks are made, such as ssl:10.0.0.1 or ssl:10.0.0.1,10.0.0.2,10.0.0.3')
      .option('--lost-after <seconds>', 'of silence on every path, after which a host counts as lost; 60 by default')
      .option(
        '--auto-recovery <true or false>',
        'fence a lost host, and start its VMs on replicated storage elsewhere, without an operator',
        parseBoolean,
      ),
    'region set ams1 --available false',
    set,
  )
}

const COLUMNS = ['id', 'slug', 'name', 'country', 'city', 'available', 'networkController', 'lostAfter', 'autoRecovery'] as const

const list = async ({ db }: Admin): Promise<Result> =>
  table(
    await Promise.all((await listRegions(db)).map((region) => withSettings(db, region))),
    [...COLUMNS],
    'No regions yet: npx berthd region add --help',
  )

/** Customers do not see it. */
const withSettings = async <R extends { id: string }>(db: Queries, region: R) => {
  const row = await getRegion(db, region.id)
  return { ...region, networkController: row.network_controller, lostAfter: row.lost_after_seconds, autoRecovery: row.auto_recovery }
}

async function add({ db, now }: Admin, { name, country, city, available }: RegionInput, slug?: string): Promise<Result> {
  const region = await db.tx((tx) => createRegion(tx, now, { slug: slug!, name, country, city, available }))
  const next = `npx berthd region set ${region.slug} --network-controller <address>, then npx berthd host add <uri> --region ${region.slug}`
  return { data: await withSettings(db, region), text: `Region ${region.slug} is added. Next: ${next}` }
}

type Change = Partial<RegionInput> & { networkController?: string; lostAfter?: string; autoRecovery?: boolean; json?: boolean }

async function set(
  admin: Admin,
  { json: _, networkController, lostAfter, autoRecovery, ...change }: Change,
  slug?: string,
): Promise<Result> {
  const { db } = admin
  if (Object.keys(change).length === 0 && [networkController, lostAfter, autoRecovery].every((each) => each === undefined))
    throw new UsageError('Nothing to change. For example: npx berthd region set ams1 --available false')
  if (networkController !== undefined) await requireController(admin, networkController)
  const region = await db.tx(async (tx) => {
    if (networkController !== undefined) await changeNetworkController(tx, await getRegion(tx, slug!), networkController)
    const recovery = {
      ...(lostAfter !== undefined && { lostAfterSeconds: Number(lostAfter) }),
      ...(autoRecovery !== undefined && { autoRecovery }),
    }
    await changeRecovery(tx, slug!, recovery)
    return withSettings(tx, await changeRegion(tx, slug!, change))
  })
  return { data: region, text: table([region], [...COLUMNS], '').text }
}

const ANSWER_MS = 10_000

/** It is asked over the connection that Berth will use, so that a wrong address changes nothing. */
async function requireController(admin: Admin, uri: string): Promise<void> {
  if (!isNetworkController(uri)) throw new UsageError(`"${uri}" is no network controller: such as ssl:10.0.0.1`)
  const { openOvn } = await import('../../hypervisor/ovn/controller.ts')
  const controller = openOvn(uri, { log: await silentLog(), access: await openAccess(admin) })
  try {
    await controller.health(AbortSignal.timeout(ANSWER_MS))
  } catch (error) {
    throw new Error(`${uri} does not answer, so nothing was changed: ${(error as Error).message}`, { cause: error })
  } finally {
    await controller.close()
  }
}
