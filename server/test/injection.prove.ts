// Customer input never changes what a host is configured with: with hostile text everywhere, machine, network and filter XML equal those
// with harmless text. Both are read from a real libvirtd, and the guest with the hostile text boots.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingForSandbox } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { openLibvirtHost, type LibvirtHost } from './libvirt-host.ts'
import { generateKey } from './openssh-keys.ts'
import { berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'

const TIMEOUT_MS = 240_000

/** Closes elements, attributes, comments and quotes; refers to entities, filter variables, files and commands. */
const HOSTILE = `x'"/></name><devices><disk type='file'><source file='/etc/shadow'/></disk>]]>--><!--&xxe;$IP\`id\`$(id);\n- runcmd: [id]\t../../é`
const HARMLESS = 'web'

describeIf(missingForSandbox())('customer input', { timeout: 2 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account } = await fleet()
  let host: LibvirtHost
  let customer: ReturnType<typeof clientOf>
  let ids: { regionId: string; osTemplateId: string; planId: string }

  beforeAll(async () => {
    const image = await tinyImage()
    host = await openLibvirtHost()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    await berthdJson(settings, 'host', 'add', host.uri, '--name', 'sandbox', '--range', '10.77.0.0/16', '--dns', host.gateway)
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

  /** The XML of the host, with every id, address and generated number normalised. */
  async function toldOf(ordered: Ordered): Promise<string[]> {
    const { sandbox } = host
    const { vmId, networkId } = ordered
    await eventually(
      async () => (await stepsOf(ordered)).steps.some(({ name, status }) => name === 'boot' && status === 'COMPLETED'),
      TIMEOUT_MS,
    )
    const told = [
      await sandbox.virsh('dumpxml', '--inactive', `berth-${vmId}`),
      await sandbox.virsh('net-dumpxml', '--inactive', `berth-${networkId}`),
      await sandbox.virsh('nwfilter-dumpxml', `berth-vm-${vmId}`),
    ]
    const vm = await db.one<{ account_id: string }>(sql`select account_id from vms where id = ${vmId}`)
    return told.map((xml) =>
      xml
        .replaceAll(vmId, 'VM')
        .replaceAll(networkId, 'NETWORK')
        .replaceAll(vm.account_id, 'ACCOUNT')
        .replace(/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UUID')
        .replace(/([0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC')
        .replace(/\b10(\.\d{1,3}){3}/g, 'ADDRESS')
        .replace(/\bbn[0-9a-f]{12}\b/g, 'BRIDGE'),
    )
  }

  test('does not change the XML on the host', async () => {
    const harmless = await order(HARMLESS, 'web-1', '10.40.0.0/24')
    const hostile = await order(HOSTILE, 'x'.repeat(63), '10.41.0.0/24')
    const [expected, told] = [await toldOf(harmless), await toldOf(hostile)]
    expect(expected.map((xml) => /VM|NETWORK/.test(xml))).toEqual([true, true, true])
    expect(told).toEqual(expected)
    const ended = await eventually(async () => {
      const action = await stepsOf(hostile)
      return ['COMPLETED', 'FAILED'].includes(action.status) && action
    }, TIMEOUT_MS)
    expect(ended).toMatchObject({ status: 'COMPLETED', error: null })
  })
})
