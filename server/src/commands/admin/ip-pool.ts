import type { Command } from 'commander'
import { getRegion } from '../../features/catalog/service.ts'
import { addPool, getHost, listPools, removePool, RESOLVERS } from '../../features/hosts/service.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { table, type Result } from '../output.ts'

export function ipPoolCommands(program: Command): void {
  const pool = program.command('ip-pool').description('ranges of public addresses')
  adminCommand(pool.command('list').description('list ranges and their free addresses'), 'ip-pool list', list)
  adminCommand(
    pool
      .command('add')
      .description('add a range of public addresses')
      .requiredOption('--region <slug>')
      .requiredOption('--cidr <range>', 'such as 198.51.100.0/24 or 2001:db8:1::/48')
      .requiredOption('--gateway <address>')
      .option('--host <name>', 'the only host that can use it; by default every host of the region')
      .option('--except <addresses...>', 'addresses or ranges in it that are not for VMs, such as those of hosts')
      .option('--dns <addresses...>', `resolvers for guests; by default ${Object.values(RESOLVERS).flat().join(' ')}`),
    'ip-pool add --region fra1 --cidr 198.51.100.0/24 --gateway 198.51.100.1',
    add,
  )
  adminCommand(
    pool.command('remove').description('remove a range that nothing uses').argument('<range>'),
    'ip-pool remove 10.77.0.0/16',
    remove,
    (_options, range) => `The range ${range} is removed.`,
  )
}

const toNumber = (count: bigint | null): number | null => (count === null ? null : Number(count))

async function list({ db, now }: Admin): Promise<Result> {
  const rows = (await listPools(db, now)).map((row) => ({
    id: row.id,
    region: row.region_slug,
    host: row.host_name,
    cidr: row.cidr,
    gateway: row.gateway,
    free: toNumber(row.free),
    resting: toNumber(row.resting),
  }))
  return table(rows, ['id', 'region', 'host', 'cidr', 'gateway', 'free', 'resting'], 'There are no IP pools: npx berthd ip-pool add --help')
}

interface NewPool {
  region: string
  cidr: string
  gateway: string
  host?: string
  except?: string[]
  dns?: string[]
}

async function add({ db, now }: Admin, { region, cidr, gateway, host, except, dns }: NewPool): Promise<Result> {
  const id = await db.tx(async (tx) => {
    const hostId = host === undefined ? null : (await getHost(tx, host)).id
    return addPool(tx, now, { regionId: (await getRegion(tx, region)).id, hostId, cidr, gateway, except, dns })
  })
  const text = `IP pool ${cidr} is ${id}`
  return {
    data: { id, region, cidr, gateway },
    text:
      host === undefined
        ? `${text}\nIts gateway ${gateway} must be on the uplink of the region's hosts: npx berthd host prepare --uplink`
        : text,
  }
}

async function remove({ db }: Admin, _options: object, range?: string): Promise<Result> {
  await db.tx((tx) => removePool(tx, range!))
  return { data: { cidr: range, removed: true }, text: `IP pool ${range} is removed` }
}
