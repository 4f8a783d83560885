// Interfaces of real guests and their ports: what passes with a port and without, and that the host itself answers no guest past OVN.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from '../../../../test/libvirt-host.ts'
import { GuestShell } from '../../../../test/guest-shell.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'
import type { MachineSpec, NicSpec } from '../../driver.ts'
import type { NetworkController, NetworkSpec } from '../../network-controller.ts'
import { directAccess } from '../../local-access.ts'
import { openOvn } from '../../ovn/controller.ts'

/** Emulated guests on a busy machine. */
const TIMEOUT_MS = 300_000
const network = (networkId: string, enableDhcp: boolean): NetworkSpec => ({
  networkId,
  cidr: '10.201.0.0/24',
  gateway: '10.201.0.1',
  enableDhcp,
  dns: [],
  snat: null,
  routes: [],
  peers: [],
})
const SENT = 2_000_000

describeIf(missingForLibvirtHost())('the interface of a real guest', { timeout: TIMEOUT_MS }, () => {
  let proof: Proof
  let networks: NetworkController
  let shell: GuestShell
  const guests: { vmId: string; nic: NicSpec; spec: MachineSpec }[] = []

  beforeAll(async () => {
    proof = await openProof()
    networks = openOvn(proof.host.networkController, { log: pino({ level: 'silent' }), access: directAccess() })
    await networks.ensurePublicNetwork({ ranges: ['10.77.0.0/16'], allowed: [] }, soon())
    shell = new GuestShell(proof.host.sandboxes.unix(proof.host.sandbox), TIMEOUT_MS)
    for (const spec of [proof.spec(), proof.spec()]) {
      await proof.start(spec)
      guests.push({ vmId: spec.vmId, nic: spec.nics[0]!, spec })
    }
    for (const { vmId } of guests) await proof.driver.ensureReady(vmId, { timeoutMs: TIMEOUT_MS }, AbortSignal.timeout(TIMEOUT_MS))
  }, TIMEOUT_MS)
  afterAll(async () => {
    await shell?.close()
    await networks?.close()
    await proof?.close()
  })

  const plug = (vmId: string, { mac, networkId, ipv4 }: NicSpec): Promise<void> =>
    networks.ensurePort(
      { vmId, mac, networkId, addresses: [ipv4!.address], ranges: [], host: proof.host.name, limitMbps: null, filter: null },
      soon(),
    )
  const says = async ({ vmId }: { vmId: string }, script: string): Promise<string> => (await shell.run(vmId, script)).output.trim()
  const pings = async (guest: { vmId: string }, address: string): Promise<boolean> =>
    (await says(guest, `ping -c 1 -W 2 ${address} > /dev/null && echo yes`)) === 'yes'
  const privateNic = (networkId: string, number: number): NicSpec => ({
    mac: `52:54:00:01:77:0${number}`,
    kind: 'private',
    networkId,
    ipv4: { address: `10.201.0.1${number}`, prefix: 24, gateway: null },
    ipv6: null,
    dns: [],
  })

  test('passes nothing without its port, and everything with it', async () => {
    const [one, other] = [guests[0]!, guests[1]!]
    expect([await pings(one, proof.host.gateway), await pings(one, other.nic.ipv4!.address)]).toEqual([false, false])
    await plug(one.vmId, one.nic)
    await plug(other.vmId, other.nic)
    // The host takes a port for an interface that it has already a moment later.
    for (const address of [proof.host.gateway, other.nic.ipv4!.address])
      await expect.poll(() => pings(one, address), { timeout: 10_000 }).toBe(true)
  })

  /** Bytes that come back, of those that the host sends. */
  async function echoes(guest: { vmId: string; nic: NicSpec }): Promise<number> {
    await says(guest, 'nc -ll -p 7 -e cat > /dev/null 2>&1 &')
    const echo = `exec 3<>/dev/tcp/${guest.nic.ipv4!.address}/7; head -c ${SENT} /dev/zero >&3 & timeout 60 head -c ${SENT} <&3 | wc -c`
    return Number(await proof.host.sandbox.inside('bash', '-c', echo))
  }

  test('carries TCP in both directions', async () => expect(await echoes(guests[0]!)).toBe(SENT))

  test.each([true, false])('gets its address when it is attached, and the same by DHCP where that is on: %s', async (enableDhcp) => {
    const networkId = `cnet${enableDhcp ? 1 : 2}`
    await networks.ensureNetwork(network(networkId, enableDhcp), soon())
    for (const [number, { vmId }] of guests.entries()) {
      await plug(vmId, privateNic(networkId, number))
      await proof.driver.ensureInterface(vmId, privateNic(networkId, number), soon())
    }
    const [guest] = guests
    expect(await says(guest!, 'ip addr show dev eth1')).toMatch(/mtu 1400 [\s\S]* 10\.201\.0\.10\/24 /)
    expect(await pings(guest!, '10.201.0.11')).toBe(true)
    const asked = await says(guest!, 'udhcpc -i eth1 -n -q -f -t 3 -T 2 -s /bin/true 2>&1')
    expect(/lease of (\S+) obtained/.exec(asked)?.[1]).toBe(enableDhcp ? '10.201.0.10' : undefined)
    for (const [number, { vmId }] of guests.entries()) {
      await proof.driver.ensureNoInterface(vmId, privateNic(networkId, number).mac, soon())
      await networks.ensureNoPort(privateNic(networkId, number).mac, soon())
    }
    expect(await says(guest!, 'ls /sys/class/net')).not.toContain('eth1')
  })

  test('gets no answer from the host past its network', async () => {
    const { vmId } = guests[0]!
    await networks.ensureNetwork(network('cnet3', false), soon())
    await plug(vmId, privateNic('cnet3', 0))
    await proof.driver.ensureInterface(vmId, privateNic('cnet3', 0), soon())
    for (const address of [proof.host.gateway, proof.host.sandbox.address]) {
      await says({ vmId }, `ip route replace ${address} dev eth1`)
      expect([address, await pings({ vmId }, address)]).toEqual([address, false])
      expect(await says({ vmId }, `ip neigh show ${address} dev eth1`)).not.toMatch(/lladdr/)
    }
    expect(await says({ vmId }, 'ping -6 -c 1 -W 2 ff02::1%eth1 2>&1 | grep -c DUP')).toBe('0')
  })

  test('takes whole packets, also where its guest was started beside an interface with smaller ones', async () => {
    const [beside, guest] = [guests[0]!, guests[1]!]
    expect(await says(beside, 'ip addr show dev eth1')).toContain('mtu 1400 ')
    await proof.driver.ensureStopped(guest.vmId, { graceMs: 0 }, soon())
    await proof.driver.ensureRunning(guest.spec, soon())
    await proof.driver.ensureReady(guest.vmId, { timeoutMs: TIMEOUT_MS }, AbortSignal.timeout(TIMEOUT_MS))
    await expect.poll(() => pings(guest, proof.host.gateway), { timeout: 10_000 }).toBe(true)
    expect(await echoes(guest)).toBe(SENT)
  })
})
