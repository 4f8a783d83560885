// Firewalls with real guests and packets: the verdict of the API matches the fate of each packet.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { installTools, sendCommand } from './frame-tools.ts'
import { udpFrame, type End } from './frames.ts'
import { losePower, returnPower } from './libvirt-host.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests, type Guest } from './real-guests.ts'

type Rule = Record<string, unknown>
const rule = (direction: 'IN' | 'OUT', action: string, protocol: string, port: string | null = null, more: Rule = {}): Rule => ({
  direction,
  action,
  protocol,
  port,
  ...more,
})

const [SSH, OPEN, CLOSED] = [22, 8001, 8002]
const IN_PORTS = [8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009]
const OUT_PORTS = [8101, 8102, 8103, 8104, 8105]
const TCP_PROBE = join(import.meta.dirname, 'tcp-probe.mjs')
const OUTCOMES: Record<string, string> = { ACCEPT: 'open', DROP: 'silence', REJECT: 'refused' }

describeIf(missingForRealHost())('real firewalls', { timeout: 6 * TIMEOUT_MS }, async () => {
  const { customer, ssh, sandbox, host, outside, boot, inside, succeeds, pings, answerOn, answerOutside, connect, broken } =
    await realGuests()
  const key = await customer.make('/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
  const [web, other] = await Promise.all([boot('web', { sshKeyIds: [key.id] }), boot('other')])
  const [first, second] = [await customer.make('/firewalls', { name: 'first' }), await customer.make('/firewalls', { name: 'second' })]
  await answerOn(web, ...IN_PORTS)
  await answerOn(other, ...OUT_PORTS)
  await answerOutside(...OUT_PORTS)
  for (const guest of [web, other]) {
    await inside(guest, installTools(nativeArch()))
    await inside(guest, '/run/sniff > /run/seen 2> /dev/null &')
  }

  const isApplied = async ({ id }: { id: string }): Promise<boolean> =>
    (await customer.get<{ applied: boolean }>(`/firewalls/${id}`)).applied
  const applied = (firewall: { id: string }): Promise<boolean> => eventually(() => isApplied(firewall), TIMEOUT_MS)
  const setRules = async (firewall: { id: string }, ...rules: Rule[]): Promise<void> => {
    await customer.make(`/firewalls/${firewall.id}/rules`, { rules }, 'PUT')
    await applied(firewall)
  }
  const fromEverywhere = (port: number): Promise<string[]> =>
    Promise.all([connect.fromHost(web.address, port), connect.fromOutside(web.address, port), connect.fromGuest(other, web.address, port)])

  test('block denied and allow accepted ports, from another VM, from outside and from the host', async () => {
    expect(await fromEverywhere(CLOSED)).toEqual(['open', 'open', 'open'])
    await customer.make(`/firewalls/${first.id}/bindings`, { vmId: web.vmId })
    await setRules(first, rule('IN', 'ACCEPT', 'TCP', String(OPEN)))
    expect(await fromEverywhere(OPEN)).toEqual(['open', 'open', 'open'])
    expect(await fromEverywhere(CLOSED)).toEqual(['silence', 'silence', 'silence'])
  })

  interface Packet {
    direction: 'IN' | 'OUT'
    protocol: 'TCP' | 'UDP' | 'ICMP'
    port?: number
    /** The peer. */
    who: 'host' | 'outside' | 'other'
  }
  const addresses = { host: host.gateway, outside: outside.address, other: other.address }

  const end = async (guest: Guest): Promise<End> => ({
    mac: await inside(guest, 'cat /sys/class/net/eth0/address'),
    address: guest.address,
  })
  const sees = async (guest: Guest, mark: string): Promise<string> =>
    (await eventually(() => succeeds(guest, 'grep -q "$0" /run/seen', mark), 4_000).catch(() => false)) ? 'open' : 'silence'

  async function sendDatagram({ direction, who, port }: Packet): Promise<string> {
    const mark = `mark-${direction}-${who}-${port}-end`
    const [sender, receiver] = direction === 'IN' ? [other, web] : [web, other]
    const runner = { host: sandbox.inside, outside: outside.run, other: null }[who]
    if (runner) await runner('bash', '-c', `echo ${mark} > /dev/udp/${web.address}/${port}`)
    else await inside(sender, sendCommand(udpFrame(await end(sender), await end(receiver), mark, { from: 4000, to: port! }), 2))
    return sees(receiver, mark)
  }

  const ping = async ({ direction, who }: Packet): Promise<string> => {
    const [from, to] = direction === 'IN' ? [other, web.address] : [web, addresses[who]]
    return (await pings(from, to)) ? 'open' : 'silence'
  }

  function really(packet: Packet): Promise<string> {
    const { direction, protocol, port, who } = packet
    if (protocol === 'ICMP') return ping(packet)
    if (protocol === 'UDP') return sendDatagram(packet)
    if (direction === 'OUT') return connect.fromGuest(web, addresses[who], port!)
    if (who === 'other') return connect.fromGuest(other, web.address, port!)
    return who === 'host' ? connect.fromHost(web.address, port!) : connect.fromOutside(web.address, port!)
  }

  /** The verdict of the API and the deciding rule. */
  async function predicted({ direction, protocol, port, who }: Packet): Promise<string> {
    const packet = { vmId: web.vmId, direction, protocol, ...(port && { port }), address: addresses[who] }
    const { action } = (await customer.make(`/firewalls/${first.id}/check`, packet)) as unknown as { action: string }
    return OUTCOMES[action]!
  }

  const everyone = ['host', 'outside', 'other'] as const
  const PACKETS: Packet[] = [
    ...everyone.flatMap((who) => IN_PORTS.map((port) => ({ direction: 'IN', protocol: 'TCP', port, who }) as const)),
    ...everyone.flatMap((who) => [9001, 9002].map((port) => ({ direction: 'IN', protocol: 'UDP', port, who }) as const)),
    { direction: 'IN', protocol: 'ICMP', who: 'other' },
    ...(['outside', 'other'] as const).flatMap((who) => [
      ...OUT_PORTS.map((port) => ({ direction: 'OUT', protocol: 'TCP', port, who }) as const),
      { direction: 'OUT', protocol: 'ICMP', who } as const,
    ]),
    ...[9101, 9102].map((port) => ({ direction: 'OUT', protocol: 'UDP', port, who: 'other' }) as const),
  ]

  test('match the verdict of POST /firewalls/{id}/check for every packet, in the order of rules and bindings', async () => {
    await customer.make(`/firewalls/${second.id}/bindings`, { vmId: web.vmId })
    await setRules(
      second,
      rule('IN', 'ACCEPT', 'TCP', '8003'), // already dropped by the first firewall
      rule('IN', 'ACCEPT', 'TCP', '8008-8009'),
    )
    await setRules(
      first,
      rule('IN', 'REJECT', 'TCP', '8003'),
      rule('IN', 'ACCEPT', 'TCP', '8001,8004-8006'),
      rule('IN', 'DROP', 'TCP', '8005'), // already accepted
      rule('IN', 'ACCEPT', 'TCP', '8007', { sourceIps: [other.address, '198.51.100.0/28'] }),
      rule('IN', 'REJECT', 'TCP', '8008', { sourceIps: [`${outside.address}/24`] }),
      rule('IN', 'DROP', 'ANY', null, { destIps: ['198.51.100.7'] }), // another destination
      rule('IN', 'ACCEPT', 'UDP', '9001', { destIps: [web.address] }),
      rule('IN', 'ACCEPT', 'ICMP', null, { sourceIps: [other.address] }),
      rule('OUT', 'REJECT', 'TCP', '8101'),
      rule('OUT', 'DROP', 'TCP', '8102-8103'),
      rule('OUT', 'ACCEPT', 'TCP', '8104', { destIps: [other.address] }),
      rule('OUT', 'DROP', 'TCP', '8104'),
      rule('OUT', 'DROP', 'UDP', '9101'),
      rule('OUT', 'DROP', 'ICMP', null, { destIps: [other.address] }),
    )
    const answers = await Promise.all(PACKETS.map(predicted))
    const told = PACKETS.map((packet, index) => ({ ...packet, becomes: answers[index] }))
    const seen = []
    // A few at a time: the guest has one CPU, and each of them waits.
    for (let at = 0; at < PACKETS.length; at += 8) {
      const some = PACKETS.slice(at, at + 8)
      const outcomes = await Promise.all(some.map(really))
      seen.push(...some.map((packet, index) => ({ ...packet, becomes: outcomes[index] })))
    }
    expect(seen).toEqual(told)
    for (const direction of ['IN', 'OUT'])
      expect(new Set(told.filter((each) => each.direction === direction).map(({ becomes }) => becomes))).toEqual(
        new Set(Object.values(OUTCOMES)),
      )
  })

  test('keep an established SSH session when they block its port', async () => {
    await customer.send('DELETE', `/firewalls/${second.id}/bindings/${web.vmId}`)
    await setRules(first, rule('IN', 'ACCEPT', 'TCP', `${SSH},${OPEN}`))
    const session = ssh.byKey(web.address, 'touch /run/open; while [ ! -e /run/changed ]; do sleep 0.2; done; echo still here')
    await eventually(() => succeeds(web, '[ -e /run/open ]'))
    await setRules(first, rule('IN', 'ACCEPT', 'TCP', String(OPEN)))
    expect(await connect.fromHost(web.address, SSH)).toBe('silence')
    await inside(web, 'touch /run/changed')
    expect(await session).toBe('still here\n')
  })

  let rounds = 0
  /** Connects to the blocked port from host and outside continuously; returns how often it succeeded. */
  async function knocking(work: () => Promise<void>): Promise<number> {
    const prefix = `${sandbox.folder}/knock-${++rounds}-`
    const knock = ['sh', '-c', '"$0" "$@" > /dev/null 2>&1 &', process.execPath, TCP_PROBE, web.address, String(CLOSED), prefix] as const
    await outside.run(...knock)
    await sandbox.inside(...knock)
    try {
      await work()
      await sandbox.inside(...knock) // the first one may have died with the host
      await expect.poll(() => connect.fromHost(web.address, OPEN), { timeout: TIMEOUT_MS }).toBe('open')
      expect(await fromEverywhere(CLOSED)).toEqual(['silence', 'silence', 'silence'])
    } finally {
      await writeFile(`${prefix}stop`, '')
    }
    expect((await readFile(`${prefix}tries`)).length).toBeGreaterThan(100)
    return (await readFile(`${prefix}opened`).catch(() => '')).length
  }

  test('stay closed while they are changed', async () => {
    const opened = await knocking(async () => {
      for (const port of [8004, 8005, 8006]) await setRules(first, rule('IN', 'ACCEPT', 'TCP', `${OPEN},${port}`))
    })
    expect(opened).toBe(0)
  })

  test('stay in effect while libvirtd is killed and restarted, and can be changed then', async () => {
    const opened = await knocking(async () => {
      await sandbox.signalDaemon('KILL')
      await sandbox.startDaemon()
    })
    expect(opened).toBe(0)
    await setRules(first, rule('IN', 'ACCEPT', 'TCP', `${OPEN},${CLOSED}`))
    expect(await fromEverywhere(CLOSED)).toEqual(['open', 'open', 'open'])
    await setRules(first, rule('IN', 'ACCEPT', 'TCP', String(OPEN)))
  })

  test('apply before the first packet after a power loss of the host', async () => {
    const answering = IN_PORTS.map((port) => `nc -ll -p ${port} -e cat > /dev/null 2>&1 &`).join('\n')
    await inside(web, 'echo "$0" >> /etc/init.d/boot; sync', answering)
    const opened = await knocking(async () => {
      await losePower(sandbox)
      await returnPower(sandbox)
      const isBack = async (): Promise<boolean> => (await customer.get(`/vms/${web.vmId}`)).status === 'RUNNING'
      await eventually(async () => (await isBack()) && (await sandbox.virsh('list', '--name')).includes(web.vmId), 4 * TIMEOUT_MS)
    })
    expect(opened).toBe(0)
  })

  test('leave nothing behind when they are unbound', async () => {
    for (const { id } of [first, second]) await customer.send('DELETE', `/firewalls/${id}/bindings/${web.vmId}`)
    await expect.poll(() => connect.fromHost(web.address, CLOSED), { timeout: TIMEOUT_MS }).toBe('open')
    for (const { id } of [first, second]) expect((await customer.send('DELETE', `/firewalls/${id}`)).status).toBe(200)
    expect(await broken()).toBe('')
  })
})
