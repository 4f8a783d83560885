// Random customer operations, sent without checking whether they will be accepted.
import type { Customer, Thing, World } from './world.ts'
import { sql } from '../../src/kernel/database/db.ts'
import { deposit } from '../deposit.ts'
import type { Verb } from '../../src/hypervisor/simulated/host.ts'
import { generateKey } from '../openssh-keys.ts'
import { mayFail, mayFollow, plant } from './faults.ts'

export interface Operation {
  name: string
  weight: number
  act: (world: World) => Promise<unknown>
}

const NEW_DISK: Verb[] = ['ensureStopped', 'ensureDisk', 'ensureNoDisk', 'ensureRunning', 'ensureReady']
const PLANS = ['nano', 'small', 'medium', 'large']
const idOf = async ({ db }: World, table: 'plans' | 'os_templates', slug: string): Promise<string> =>
  ((await db.raw(`select id from ${table} where slug = $1`, [slug])).rows[0] as { id: string }).id

const template = (world: World): Promise<string> => idOf(world, 'os_templates', world.random.pick(['debian-12', 'debian-12', 'tiny'])!)
const plan = (world: World): Promise<string> => idOf(world, 'plans', world.random.pick(PLANS)!)

/** Sends the request and, when accepted, records the created resource. */
async function make(world: World, owner: Customer, kind: Parameters<World['remember']>[0], path: string, body: object): Promise<void> {
  const { status, body: answer } = await world.send(owner, 'post', path, body)
  if (status >= 300) return
  const made = answer.data.vm ?? answer.data.snapshot ?? answer.data.backup ?? answer.data
  if (made.id) world.remember(kind, { id: made.id as string, owner, vmId: (made.vmId ?? made.id) as string })
}

async function createVm(world: World): Promise<void> {
  const { random, host } = world
  const owner = world.customer()
  const some = (kind: 'network' | 'firewall' | 'key', probability: number): string[] => {
    const thing = random.chance(probability) ? world.mine(kind, owner) : undefined
    return thing ? [thing.id] : []
  }
  const size = random.chance(0.2) ? { customConfig: { vcpu: 1, ram: 1024, disk: random.int(5, 30) } } : { planId: await plan(world) }
  const body = {
    regionId: host.region_id,
    osTemplateId: await template(world),
    hostname: 'web-1',
    ...size,
    dailyBackupEnabled: random.chance(0.3),
    network10gEnabled: random.chance(0.1),
    isProtected: random.chance(0.1),
    privateNetworkIds: some('network', 0.4),
    firewallIds: some('firewall', 0.4),
    sshKeyIds: some('key', 0.4),
    ...(random.chance(0.3) && { password: 'correct horse' }),
  }
  if (random.chance(0.3)) await plant(world, random.pick(world.controls)!, ['ensureNetwork', 'ensureFilter', ...NEW_DISK, 'ensurePurged'])
  await make(world, owner, 'vm', random.chance(0.05) ? '/vms?dryRun=true' : '/vms', body)
  await mayFollow(world)
}

type Body = (world: World, vm: Thing) => Promise<object | undefined> | object | undefined

/** An action on a VM in any state. Often its host fails in one of the calls it needs. */
const order =
  (path: string, verbs: Verb[], body: Body = () => undefined) =>
  async (world: World): Promise<void> => {
    const vm = world.some('vm')
    if (!vm) return
    await mayFail(world, vm.id, verbs)
    await world.send(vm.owner, 'post', `/vms/${vm.id}/${path}`, await body(world, vm))
    await mayFollow(world)
  }

async function deleteVm(world: World): Promise<void> {
  const vm = world.some('vm')
  if (!vm) return
  await mayFail(world, vm.id, ['ensurePurged'])
  await world.send(vm.owner, 'delete', `/vms/${vm.id}`)
  await mayFollow(world)
}

async function changeVm(world: World): Promise<void> {
  const vm = world.some('vm')
  const change = world.random.pick([
    { name: 'renamed' },
    { isProtected: false },
    { dailyBackupEnabled: true },
    { dailyBackupEnabled: false },
  ])
  if (vm) await world.send(vm.owner, 'patch', `/vms/${vm.id}`, change)
}

const remove =
  (kind: 'network' | 'firewall' | 'key' | 'webhook', path: string) =>
  async (world: World): Promise<void> => {
    const thing = world.some(kind)
    if (thing) await world.send(thing.owner, 'delete', `/${path}/${thing.id}`)
  }

async function createNetwork(world: World): Promise<void> {
  const { random, hosts, host } = world
  const nodeId = random.pick([...hosts.map(({ id }) => id), host.region_id])!
  const cidr = `10.${random.int(1, 9)}.0.0/${random.pick([24, 24, 29])}`
  await make(world, world.customer(), 'network', '/networks', { name: 'inside', nodeId, cidr })
}

const createFirewall = (world: World): Promise<void> => make(world, world.customer(), 'firewall', '/firewalls', { name: 'web' })

/** Mostly a network that the VM can be attached to: on its host, and not attached yet. */
async function pluggable(world: World, vm: Thing): Promise<string | undefined> {
  const near = await world.db.many<{ id: string }>(sql`
    select n.id from networks n join vms v on v.host_id = n.host_id and v.account_id = n.account_id
    where v.id = ${vm.id} and n.deleted_at is null and not exists (
      select from network_attachments a where a.network_id = n.id and a.vm_id = v.id) order by n.id`)
  return near.length > 0 && world.random.chance(0.9) ? world.random.pick(near)?.id : world.mine('network', vm.owner)?.id
}

async function attach(world: World): Promise<void> {
  const vm = world.some('vm')
  const networkId = vm && (await pluggable(world, vm))
  if (!networkId) return
  await mayFail(world, vm.id, ['ensureNetwork', 'ensureInterface', 'ensureInterface', 'ensureNoInterface'])
  await world.send(vm.owner, 'post', `/vms/${vm.id}/networks`, { networkId })
  await mayFollow(world)
}

async function detach(world: World): Promise<void> {
  const plugs = await world.db.many<{ vm_id: string; network_id: string }>(sql`
    select vm_id, network_id from network_attachments order by vm_id, network_id`)
  const plug = world.random.pick(plugs)
  const vm = plug && world.known('vm', plug.vm_id)
  if (!vm) return
  await mayFail(world, vm.id, ['ensureNoInterface'])
  await world.send(vm.owner, 'delete', `/vms/${vm.id}/networks/${plug.network_id}`)
  await mayFollow(world)
}

const rule = ({ random }: World): object => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: `${random.int(1, 999)}` })

async function changeRules(world: World): Promise<void> {
  const firewall = world.some('firewall')
  if (!firewall) return
  if (world.random.chance(0.5)) await world.send(firewall.owner, 'post', `/firewalls/${firewall.id}/rules`, rule(world))
  else await world.send(firewall.owner, 'put', `/firewalls/${firewall.id}/rules`, { rules: [rule(world), rule(world)] })
}

async function bind(world: World): Promise<void> {
  const vm = world.some('vm')
  const firewall = vm && world.mine('firewall', vm.owner)
  if (!firewall) return
  if (world.random.chance(0.7)) await world.send(vm.owner, 'post', `/firewalls/${firewall.id}/bindings`, { vmId: vm.id })
  else await world.send(vm.owner, 'delete', `/firewalls/${firewall.id}/bindings/${vm.id}`)
}

const copy =
  (kind: 'snapshot' | 'backup') =>
  async (world: World): Promise<void> => {
    const vm = world.some('vm')
    if (!vm) return
    await mayFail(world, vm.id, kind === 'snapshot' ? ['ensureSnapshot', 'ensureNoSnapshot'] : ['ensureBackup', 'ensureNoBackup'])
    await make(world, vm.owner, kind, `/vms/${vm.id}/${kind}s`, { name: 'copy' })
    await mayFollow(world)
  }

const useCopy =
  (kind: 'snapshot' | 'backup', method: 'post' | 'delete') =>
  async (world: World): Promise<void> => {
    const thing = world.some(kind)
    if (!thing) return
    const path = `/vms/${thing.vmId}/${kind}s/${thing.id}`
    await mayFail(world, thing.vmId, method === 'post' ? NEW_DISK : ['ensureNoSnapshot', 'ensureNoBackup'])
    await world.send(thing.owner, method, method === 'post' ? `${path}/restore` : path)
    await mayFollow(world)
  }

/** By the operator, or a payment: the API has no operation for it. */
async function addMoney({ deps, random, customer, trace }: World): Promise<void> {
  const { accountId } = customer()
  const cents = BigInt(random.int(100, 5_000))
  await deposit(deps, accountId, cents)
  trace.push(`  credit ${cents}`)
}

const LISTS = [
  '/vms',
  '/networks',
  '/firewalls',
  '/ssh-keys',
  '/bandwidth',
  '/wallet',
  '/wallet/transactions',
  '/actions',
  '/webhooks',
  '/account/limits',
]

async function look(world: World): Promise<void> {
  const owner = world.customer()
  await world.send(owner, 'get', world.random.pick(LISTS)!)
  const vm = world.some('vm')
  if (vm) await world.send(vm.owner, 'get', `/vms/${vm.id}`)
}

/** Initial resources, so that the first operations have something to act on. */
export async function settleIn(world: World): Promise<void> {
  for (let times = 0; times < 4; times++) {
    await createNetwork(world)
    await createFirewall(world)
    await createVm(world)
  }
  await world.settle()
}

export const customerOperations: Operation[] = [
  { name: 'create a VM', weight: 8, act: createVm },
  { name: 'delete a VM', weight: 4, act: deleteVm },
  { name: 'start', weight: 5, act: order('start', ['ensureFilter', 'ensureRunning', 'ensureReady', 'ensureStopped']) },
  { name: 'stop', weight: 4, act: order('stop', ['ensureStopped'], ({ random }) => ({ force: random.chance(0.3) })) },
  { name: 'restart', weight: 5, act: order('restart', ['ensureRestarted', 'ensureReady']) },
  {
    name: 'upgrade',
    weight: 7,
    act: order('upgrade', ['ensureStopped', 'ensureDefined', 'ensureRunning', 'ensureReady'], async (world) => ({
      planId: await plan(world),
    })),
  },
  { name: 'rebuild', weight: 5, act: order('rebuild', NEW_DISK, async (world) => ({ osTemplateId: await template(world) })) },
  { name: 'set a password', weight: 2, act: order('password', ['ensurePassword'], () => ({ password: 'battery staple' })) },
  { name: 'buy traffic', weight: 2, act: order('bandwidth/packs', ['ensureLimit'], ({ random }) => ({ gigabytes: random.int(1, 500) })) },
  { name: 'change a VM', weight: 2, act: changeVm },
  { name: 'create a network', weight: 3, act: createNetwork },
  { name: 'delete a network', weight: 2, act: remove('network', 'networks') },
  { name: 'attach', weight: 8, act: attach },
  { name: 'detach', weight: 4, act: detach },
  { name: 'create a firewall', weight: 1, act: createFirewall },
  { name: 'delete a firewall', weight: 1, act: remove('firewall', 'firewalls') },
  { name: 'change rules', weight: 2, act: changeRules },
  { name: 'bind', weight: 3, act: bind },
  {
    name: 'add a key',
    weight: 1,
    act: (world) => make(world, world.customer(), 'key', '/ssh-keys', { name: 'k', publicKey: generateKey().line }),
  },
  { name: 'delete a key', weight: 1, act: remove('key', 'ssh-keys') },
  { name: 'take a snapshot', weight: 5, act: copy('snapshot') },
  { name: 'restore a snapshot', weight: 4, act: useCopy('snapshot', 'post') },
  { name: 'delete a snapshot', weight: 3, act: useCopy('snapshot', 'delete') },
  { name: 'make a backup', weight: 5, act: copy('backup') },
  { name: 'restore a backup', weight: 4, act: useCopy('backup', 'post') },
  { name: 'delete a backup', weight: 3, act: useCopy('backup', 'delete') },
  {
    name: 'subscribe',
    weight: 1,
    act: (world) =>
      make(world, world.customer(), 'webhook', '/webhooks', { url: 'http://127.0.0.1:9/', events: ['vm.created', 'vm.stopped'] }),
  },
  { name: 'unsubscribe', weight: 1, act: remove('webhook', 'webhooks') },
  { name: 'pay', weight: 3, act: addMoney },
  { name: 'look', weight: 2, act: look },
]
