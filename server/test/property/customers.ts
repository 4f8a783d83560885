// Random customer operations, sent without checking whether they will be accepted.
import type { Customer, Thing, Fixture } from './fixture.ts'
import { sql } from '../../src/kernel/database/db.ts'
import { deposit } from '../deposit.ts'
import type { Verb } from '../../src/hypervisor/simulated/host.ts'
import { generateKey } from '../openssh-keys.ts'
import { mayFail, mayFollow, plant } from './faults.ts'

export interface Operation {
  name: string
  weight: number
  act: (fixture: Fixture) => Promise<unknown>
}

const NEW_DISK: Verb[] = ['ensureStopped', 'ensureDisk', 'ensureNoDisk', 'ensureRunning', 'ensureReady']
const PLANS = ['nano', 'small', 'medium', 'large']
const idOf = async ({ db }: Fixture, table: 'plans' | 'os_templates', slug: string): Promise<string> =>
  ((await db.raw(`select id from ${table} where slug = $1`, [slug])).rows[0] as { id: string }).id

const template = (fixture: Fixture): Promise<string> =>
  idOf(fixture, 'os_templates', fixture.random.pick(['debian-12', 'debian-12', 'tiny'])!)
const plan = (fixture: Fixture): Promise<string> => idOf(fixture, 'plans', fixture.random.pick(PLANS)!)

/** Sends the request and, when accepted, records the created resource. */
async function make(
  fixture: Fixture,
  owner: Customer,
  kind: Parameters<Fixture['remember']>[0],
  path: string,
  body: object,
): Promise<void> {
  const { status, body: answer } = await fixture.send(owner, 'post', path, body)
  if (status >= 300) return
  const made = answer.data.vm ?? answer.data.snapshot ?? answer.data.backup ?? answer.data
  if (made.id) fixture.remember(kind, { id: made.id as string, owner, vmId: (made.vmId ?? made.id) as string })
}

async function createVm(fixture: Fixture): Promise<void> {
  const { random, host } = fixture
  const owner = fixture.customer()
  const some = (kind: 'network' | 'firewall' | 'key', probability: number): string[] => {
    const thing = random.chance(probability) ? fixture.mine(kind, owner) : undefined
    return thing ? [thing.id] : []
  }
  const size = random.chance(0.2) ? { customConfig: { vcpu: 1, ram: 1024, disk: random.int(5, 30) } } : { planId: await plan(fixture) }
  const body = {
    regionId: host.region_id,
    osTemplateId: await template(fixture),
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
  if (random.chance(0.3))
    await plant(fixture, random.pick(fixture.controls)!, ['ensureNetwork', 'ensurePort', ...NEW_DISK, 'ensurePurged', 'ensureNoPort'])
  await make(fixture, owner, 'vm', random.chance(0.05) ? '/vms?dryRun=true' : '/vms', body)
  await mayFollow(fixture)
}

type Body = (fixture: Fixture, vm: Thing) => Promise<object | undefined> | object | undefined

/** An action on a VM in any state. Often its host fails in one of the calls it needs. */
const order =
  (path: string, verbs: Verb[], body: Body = () => undefined) =>
  async (fixture: Fixture): Promise<void> => {
    const vm = fixture.some('vm')
    if (!vm) return
    await mayFail(fixture, vm.id, verbs)
    await fixture.send(vm.owner, 'post', `/vms/${vm.id}/${path}`, await body(fixture, vm))
    await mayFollow(fixture)
  }

async function deleteVm(fixture: Fixture): Promise<void> {
  const vm = fixture.some('vm')
  if (!vm) return
  await mayFail(fixture, vm.id, ['ensurePurged', 'ensureNoPort'])
  await fixture.send(vm.owner, 'delete', `/vms/${vm.id}`)
  await mayFollow(fixture)
}

async function changeVm(fixture: Fixture): Promise<void> {
  const vm = fixture.some('vm')
  const change = fixture.random.pick([
    { name: 'renamed' },
    { isProtected: false },
    { dailyBackupEnabled: true },
    { dailyBackupEnabled: false },
  ])
  if (vm) await fixture.send(vm.owner, 'patch', `/vms/${vm.id}`, change)
}

const remove =
  (kind: 'network' | 'firewall' | 'key' | 'webhook', path: string) =>
  async (fixture: Fixture): Promise<void> => {
    const thing = fixture.some(kind)
    if (thing) await fixture.send(thing.owner, 'delete', `/${path}/${thing.id}`)
  }

async function createNetwork(fixture: Fixture): Promise<void> {
  const { random, hosts, host } = fixture
  const nodeId = random.pick([...hosts.map(({ id }) => id), host.region_id])!
  const cidr = `10.${random.int(1, 9)}.0.0/${random.pick([24, 24, 29])}`
  await make(fixture, fixture.customer(), 'network', '/networks', { name: 'inside', nodeId, cidr })
}

const createFirewall = (fixture: Fixture): Promise<void> => make(fixture, fixture.customer(), 'firewall', '/firewalls', { name: 'web' })

/** Mostly a network that the VM can be attached to: in its region, and not attached yet. */
async function pluggable(fixture: Fixture, vm: Thing): Promise<string | undefined> {
  const near = await fixture.db.many<{ id: string }>(sql`
    select n.id from networks n join vms v on v.region_id = n.region_id and v.account_id = n.account_id
    where v.id = ${vm.id} and n.deleted_at is null and not exists (
      select from network_attachments a where a.network_id = n.id and a.vm_id = v.id) order by n.id`)
  return near.length > 0 && fixture.random.chance(0.9) ? fixture.random.pick(near)?.id : fixture.mine('network', vm.owner)?.id
}

async function attach(fixture: Fixture): Promise<void> {
  const vm = fixture.some('vm')
  const networkId = vm && (await pluggable(fixture, vm))
  if (!networkId) return
  await mayFail(fixture, vm.id, ['ensureNetwork', 'ensurePort', 'ensureInterface', 'ensureNoInterface', 'ensureNoPort'])
  await fixture.send(vm.owner, 'post', `/vms/${vm.id}/networks`, { networkId })
  await mayFollow(fixture)
}

async function detach(fixture: Fixture): Promise<void> {
  const plugs = await fixture.db.many<{ vm_id: string; network_id: string }>(sql`
    select vm_id, network_id from network_attachments order by vm_id, network_id`)
  const plug = fixture.random.pick(plugs)
  const vm = plug && fixture.known('vm', plug.vm_id)
  if (!vm) return
  await mayFail(fixture, vm.id, ['ensureNoInterface', 'ensureNoPort'])
  await fixture.send(vm.owner, 'delete', `/vms/${vm.id}/networks/${plug.network_id}`)
  await mayFollow(fixture)
}

const rule = ({ random }: Fixture): object => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: `${random.int(1, 999)}` })

async function changeRules(fixture: Fixture): Promise<void> {
  const firewall = fixture.some('firewall')
  if (!firewall) return
  if (fixture.random.chance(0.5)) await fixture.send(firewall.owner, 'post', `/firewalls/${firewall.id}/rules`, rule(fixture))
  else await fixture.send(firewall.owner, 'put', `/firewalls/${firewall.id}/rules`, { rules: [rule(fixture), rule(fixture)] })
}

async function bind(fixture: Fixture): Promise<void> {
  const vm = fixture.some('vm')
  const firewall = vm && fixture.mine('firewall', vm.owner)
  if (!firewall) return
  if (fixture.random.chance(0.7)) await fixture.send(vm.owner, 'post', `/firewalls/${firewall.id}/bindings`, { vmId: vm.id })
  else await fixture.send(vm.owner, 'delete', `/firewalls/${firewall.id}/bindings/${vm.id}`)
}

const copy =
  (kind: 'snapshot' | 'backup') =>
  async (fixture: Fixture): Promise<void> => {
    const vm = fixture.some('vm')
    if (!vm) return
    await mayFail(fixture, vm.id, kind === 'snapshot' ? ['ensureSnapshot', 'ensureNoSnapshot'] : ['ensureBackup', 'ensureNoBackup'])
    await make(fixture, vm.owner, kind, `/vms/${vm.id}/${kind}s`, { name: 'copy' })
    await mayFollow(fixture)
  }

const useCopy =
  (kind: 'snapshot' | 'backup', method: 'post' | 'delete') =>
  async (fixture: Fixture): Promise<void> => {
    const thing = fixture.some(kind)
    if (!thing) return
    const path = `/vms/${thing.vmId}/${kind}s/${thing.id}`
    await mayFail(fixture, thing.vmId, method === 'post' ? NEW_DISK : ['ensureNoSnapshot', 'ensureNoBackup'])
    await fixture.send(thing.owner, method, method === 'post' ? `${path}/restore` : path)
    await mayFollow(fixture)
  }

/** By the operator, or a payment: the API has no operation for it. */
async function addMoney({ deps, random, customer, trace }: Fixture): Promise<void> {
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

async function look(fixture: Fixture): Promise<void> {
  const owner = fixture.customer()
  await fixture.send(owner, 'get', fixture.random.pick(LISTS)!)
  const vm = fixture.some('vm')
  if (vm) await fixture.send(vm.owner, 'get', `/vms/${vm.id}`)
}

/** Initial resources, so that the first operations have something to act on. */
export async function settleIn(fixture: Fixture): Promise<void> {
  for (let times = 0; times < 4; times++) {
    await createNetwork(fixture)
    await createFirewall(fixture)
    await createVm(fixture)
  }
  await fixture.settle()
}

export const customerOperations: Operation[] = [
  { name: 'create a VM', weight: 8, act: createVm },
  { name: 'delete a VM', weight: 4, act: deleteVm },
  { name: 'start', weight: 5, act: order('start', ['ensurePort', 'ensureRunning', 'ensureReady', 'ensureStopped']) },
  { name: 'stop', weight: 4, act: order('stop', ['ensureStopped'], ({ random }) => ({ force: random.chance(0.3) })) },
  { name: 'restart', weight: 5, act: order('restart', ['ensureRestarted', 'ensureReady']) },
  {
    name: 'upgrade',
    weight: 7,
    act: order('upgrade', ['ensureStopped', 'ensureDefined', 'ensureLiveSize', 'ensureRunning', 'ensureReady'], async (fixture) => ({
      planId: await plan(fixture),
    })),
  },
  {
    name: 'resize',
    weight: 7,
    act: order(
      'resize',
      ['ensureStopped', 'ensureDefined', 'ensureLiveSize', 'ensureMigrated', 'ensureRunning', 'ensureReady'],
      async (fixture) => {
        const { random } = fixture
        const disk = random.int(20, 120)
        return random.pick([
          { disk },
          { planId: await plan(fixture), disk },
          { customConfig: { vcpu: random.int(1, 4), ram: 1024 * random.int(1, 8), disk } },
        ])!
      },
    ),
  },
  { name: 'rebuild', weight: 5, act: order('rebuild', NEW_DISK, async (fixture) => ({ osTemplateId: await template(fixture) })) },
  { name: 'set a password', weight: 2, act: order('password', ['ensurePassword'], () => ({ password: 'battery staple' })) },
  { name: 'buy traffic', weight: 2, act: order('bandwidth/packs', ['ensurePort'], ({ random }) => ({ gigabytes: random.int(1, 500) })) },
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
    act: (fixture) => make(fixture, fixture.customer(), 'key', '/ssh-keys', { name: 'k', publicKey: generateKey().line }),
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
    act: (fixture) =>
      make(fixture, fixture.customer(), 'webhook', '/webhooks', { url: 'http://127.0.0.1:9/', events: ['vm.created', 'vm.stopped'] }),
  },
  { name: 'unsubscribe', weight: 1, act: remove('webhook', 'webhooks') },
  { name: 'pay', weight: 3, act: addMoney },
  { name: 'look', weight: 2, act: look },
]
