// That filters filter: two real guests, the host on the other side of the cable, and packets between them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingForSandbox } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { GuestShell } from '../../../../test/guest-shell.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'
import type { Filter, FilterRule } from '../../driver.ts'

/** Emulated guests on a busy machine. */
const TIMEOUT_MS = 900_000
const ECHO = 7777
const OPEN: Filter = { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' }

const port = (number: number, changes: Partial<FilterRule> = {}): FilterRule => ({
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'TCP',
  ports: [{ from: number, to: number }],
  sources: [],
  destinations: [],
  ...changes,
})
const closed = (...rules: FilterRule[]): Filter => ({ rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })
const icmp = (changes: Partial<FilterRule>): FilterRule => port(0, { protocol: 'ICMP', ports: [], ...changes })

interface Guest {
  vmId: string
  address: string
}

describeIf(missingForSandbox())('the filter of a real guest', { timeout: TIMEOUT_MS }, () => {
  let proof: Proof
  let shell: GuestShell
  let guest: Guest
  let neighbour: Guest

  const boot = async (): Promise<Guest> => {
    const spec = proof.spec()
    await proof.start(spec)
    await proof.driver.ensureReady(spec.vmId, { timeoutMs: TIMEOUT_MS }, AbortSignal.timeout(TIMEOUT_MS))
    return { vmId: spec.vmId, address: spec.nics[0]!.address }
  }
  beforeAll(async () => {
    proof = await openProof()
    shell = new GuestShell(proof.host.sandboxes.unix(proof.host.sandbox), TIMEOUT_MS)
    ;[guest, neighbour] = [await boot(), await boot()]
    await shell.run(guest.vmId, `nc -ll -p ${ECHO} -e cat >/dev/null 2>&1 &`)
  }, TIMEOUT_MS)
  afterAll(async () => {
    await shell.close()
    await proof.close()
  })

  /** What the host gets when it connects: the answer to a line, or why there was none. */
  const fromHost = (number: number): Promise<string> => {
    const script = `exec 3<>/dev/tcp/${guest.address}/${number} && echo hello >&3 && head -c 5 <&3`
    const ask = `timeout 4 bash -c '${script}' 2>/run/said; case $? in 0) ;; 124) echo silence;; *) grep -m 1 -o refused /run/said;; esac`
    return proof.host.sandbox.inside('bash', '-c', ask).then((said) => said.trim())
  }
  const fromNeighbour = async (number: number): Promise<string> =>
    (await shell.run(neighbour.vmId, 'echo hello | timeout 4 nc "$0" "$1" | head -c 5', guest.address, String(number))).output
  const pings = async (vmId: string, ...args: string[]): Promise<boolean> =>
    (await shell.run(vmId, `ping -c 1 -W 2 ${args.join(' ')}`)).exitCode === 0
  const neighbourPings = (): Promise<boolean> => pings(neighbour.vmId, guest.address)
  const guestPings = (...args: string[]): Promise<boolean> => pings(guest.vmId, ...args)
  const set = (filter: Filter): Promise<void> => proof.driver.ensureFilter(guest.vmId, filter, soon())

  test('accepts everything when it is open', async () => {
    await set(OPEN)
    await eventually('the guest to listen', async () => (await fromHost(ECHO)) === 'hello' || undefined)
    expect(await fromNeighbour(ECHO)).toBe('hello')
    expect(await neighbourPings()).toBe(true)
  })

  test('drops what is not allowed, from the host and from a neighbour, and accepts the rest', async () => {
    await set(closed(port(22)))
    expect(await fromHost(22)).toBe('SSH-2')
    expect(await fromHost(ECHO)).toBe('silence')
    expect(await fromNeighbour(22)).toBe('SSH-2')
    expect(await fromNeighbour(ECHO)).toBe('')
    expect(await neighbourPings()).toBe(false)
    expect(await guestPings(proof.host.gateway)).toBe(true)
  })

  test('accepts by port range and by address; first match wins', async () => {
    const range = { ports: [{ from: 7000, to: 7999 }] }
    await set(closed(port(0, { ...range, action: 'DROP', sources: [proof.host.gateway] }), port(0, range), icmp({})))
    expect(await fromHost(ECHO)).toBe('silence')
    expect(await fromNeighbour(ECHO)).toBe('hello')
    expect(await neighbourPings()).toBe(true)
    await set(closed(port(0, { ...range, sources: [`${proof.host.gateway}/32`] }), port(0, { ...range, action: 'DROP' })))
    expect(await fromHost(ECHO)).toBe('hello')
    expect(await fromNeighbour(ECHO)).toBe('')
  })

  test('answers where it rejects', async () => {
    await set(closed(port(ECHO, { action: 'REJECT' })))
    expect(await fromHost(ECHO)).toBe('refused')
  })

  test('drops outbound traffic that is not allowed', async () => {
    await set({ ...OPEN, rules: [icmp({ direction: 'OUT', action: 'DROP', destinations: [proof.host.gateway] })] })
    expect(await guestPings(proof.host.gateway)).toBe(false)
    expect(await guestPings(neighbour.address)).toBe(true)
  })

  test('changes under an open connection, which survives', async () => {
    await set(OPEN)
    const script = `exec 3<>/dev/tcp/${guest.address}/${ECHO}; echo one >&3; read -t 20 a <&3; touch /run/open
      for i in $(seq 300); do [ -e /run/changed ] && break; sleep 0.2; done; echo two >&3; read -t 20 b <&3; echo "$a $b"`
    const talk = proof.host.sandbox.inside('bash', '-c', script)
    await eventually('the connection', () => proof.host.sandbox.inside('test', '-e', '/run/open').then(() => true))
    await set(closed(port(22)))
    expect(await fromHost(ECHO)).toBe('silence')
    await proof.host.sandbox.inside('touch', '/run/changed')
    expect((await talk).trim()).toBe('one two')
  })

  test('passes neither spoofed addresses nor IPv6', async () => {
    await set(OPEN)
    await shell.run(guest.vmId, 'ip addr add 10.77.9.9/16 dev eth0; ip -6 addr add fd00::2/64 dev eth0')
    await proof.host.sandbox.inside('ip', '-6', 'addr', 'add', 'fd00::1/64', 'dev', 'bpub-gw')
    expect(await guestPings(proof.host.gateway)).toBe(true)
    expect(await guestPings('-I', '10.77.9.9', proof.host.gateway)).toBe(false)
    expect(await guestPings('fd00::1')).toBe(false)
  })
})
