// Customer input never changes what a host is configured with: with hostile text everywhere, the XML of a machine equals that with harmless
// text, and none of the text is in the databases of its network. All are read from a real host, and the guest with the hostile text boots.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { missingForLibvirtHost, openLibvirtHost, type LibvirtHost } from './libvirt-host.ts'
import { generateKey } from './openssh-keys.ts'
import { berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'

const TIMEOUT_MS = 240_000

/** Closes elements, attributes, comments and quotes; refers to entities, filter variables, files and commands. */
const HOSTILE = `x'"/></name><devices><disk type='file'><source file='/etc/shadow'/></disk>]]>--><!--&xxe;$IP\`id\`$(id);\n- runcmd: [id]\t../../é`
const HARMLESS = 'web'

describeIf(missingForLibvirtHost())('customer input', { timeout: 2 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account } = await fleet()
  let host: LibvirtHost
  let customer: ReturnType<typeof clientOf>
  let ids: { regionId: string; osTemplateId: string; planId: string }

  beforeAll(async () => {
    const image = await tinyImage()
    host = await openLibvirtHost()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    const networks = ['--network-controller', host.networkController, '--range', '10.77.0.0/16', '--dns', host.gateway]
    await berthdJson(settings, 'host', 'add', host.uri, '--name', 'sandbox', ...networks)
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    await start('worker')
    customer = clientOf(token, () => api)
    ids = await db.one(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
  }, TIMEOUT_MS)
  afterAll(() => host?.close())

  async function post(path: string, body: object) {
    const { status, error, data } = await customer.send('POST', path, body)
    expect([Math.floor(status / 100), error]).toEqual([2, undefined])
    return data
  }

  interface Ordered {
    vmId: string
    networkId: string
    actionId: string
  }

  /** The hostile text for every free-text field. */
  async function order(words: string, hostname: string, cidr: string): Promise<Ordered> {
    const [type, key] = generateKey().line.split(' ')
    const { id: keyId } = await post('/ssh-keys', { name: words.slice(0, 100), publicKey: `${type} ${key} ${words.replace('\n', ' ')}` })
    const { id: networkId } = await post('/networks', { name: words.slice(0, 100), nodeId: ids.regionId, cidr })
    const { id: firewallId } = await post('/firewalls', { name: words.slice(0, 100), description: words })
    await post(`/firewalls/${firewallId}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', description: words })
    const uses = { sshKeyIds: [keyId], firewallIds: [firewallId], privateNetworkIds: [networkId] }
    const { vm, actionId } = await post('/vms', {
      ...ids,
      ...uses,
      hostname,
      name: words.slice(0, 100),
      password: words.padEnd(8, '1').slice(0, 128),
    })
    return { vmId: vm.id, networkId, actionId }
  }

  const stepsOf = async ({ vmId, actionId }: Ordered) =>
    (await customer.send('GET', `/vms/${vmId}/actions/${actionId}`)).data as unknown as {
      status: string
      error: string | null
      steps: Step[]
    }
  interface Step {
    name: string
    status: string
  }

  /** The machine's XML, with every id, address and generated number normalised. */
  async function toldOf(ordered: Ordered): Promise<string> {
    const { vmId } = ordered
    await eventually(
      async () => (await stepsOf(ordered)).steps.some(({ name, status }) => name === 'boot' && status === 'COMPLETED'),
      TIMEOUT_MS,
    )
    const xml = await host.sandbox.virsh('dumpxml', '--inactive', `berth-${vmId}`)
    const vm = await db.one<{ account_id: string }>(sql`select account_id from vms where id = ${vmId}`)
    return xml
      .replaceAll(vmId, 'VM')
      .replaceAll(vm.account_id, 'ACCOUNT')
      .replace(/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UUID')
      .replace(/([0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC')
      .replace(/\+\d{10}\b/g, 'USER')
      .replace(/\b10(\.\d{1,3}){3}/g, 'ADDRESS')
  }

  const databases = (): Promise<string> =>
    host.sandbox.inside(
      'sh',
      '-ec',
      'for each in ovn/ovnnb_db ovn/ovnsb_db openvswitch/db; do ovsdb-client dump unix:/run/$each.sock; done',
    )

  test('does not change the XML on the host', async () => {
    const harmless = await order(HARMLESS, 'web-1', '10.40.0.0/24')
    const hostile = await order(HOSTILE, 'x'.repeat(63), '10.41.0.0/24')
    const [expected, told] = [await toldOf(harmless), await toldOf(hostile)]
    expect(expected).toContain('VM')
    expect(told).toBe(expected)
    const stored = await databases()
    for (const { networkId } of [harmless, hostile]) expect(stored).toContain(networkId)
    expect(stored).not.toMatch(/shadow|xxe|runcmd|devices|é/)
    const ended = await eventually(async () => {
      const action = await stepsOf(hostile)
      return ['COMPLETED', 'FAILED'].includes(action.status) && action
    }, TIMEOUT_MS)
    expect(ended).toMatchObject({ status: 'COMPLETED', error: null })
  })
})
