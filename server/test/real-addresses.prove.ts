// Floating addresses with real guests: how long one is out of reach while it moves, and that its owner keeps it over reboot and rebuild.
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { env } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests, type Guest } from './real-guests.ts'

const PORT = 7777
const LIMIT_MS = 2_000

/** Connects to the port again and again, and prints when and with what outcome. The kernel of the guest answers, so no process has to run. */
const WATCH = `
const net = require('node:net')
const ask = () => {
  const socket = net.connect({ host: process.argv[1], port: ${PORT} })
  const end = (outcome) => {
    if (outcome) console.log(Date.now() + ' ' + outcome)
    socket.destroy()
    setTimeout(ask, 40)
  }
  socket.setTimeout(250, () => end())
  socket.once('connect', () => end('open'))
  socket.once('error', ({ code }) => end(code === 'ECONNREFUSED' ? 'refused' : undefined))
}
ask()`

/** Only one of the guests listens at the port, so the outcome says which one has answered. */
type Outcome = 'open' | 'refused'

describeIf(missingForRealHost())('a real floating address', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, db, outside, boot, inside, succeeds, pings, connect, broken } = await realGuests()
  await db.run(sql`update address_pools set host_id = null`)
  const { regionId, osTemplateId } = await customer.tiny()
  const [one, other] = await Promise.all([boot('one'), boot('other')])
  const listen = async (guest: Guest): Promise<void> => void (await inside(guest, `nc -ll -p ${PORT} -e true > /dev/null 2>&1 &`))
  await listen(other)
  const { id, address } = (await customer.make('/addresses', { regionId })) as unknown as { id: string; address: string }

  const move = async (method: string, body?: object): Promise<void> => {
    const { status, data, error } = await customer.send(method, `/addresses/${id}/assignment`, body)
    if (status !== 202) throw new Error(`${status}: ${error}`)
    await eventually(async () => {
      const found = await customer.get<{ status: string; error: string }>(
        `/vms/${(data as unknown as { vmId: string }).vmId}/actions/${data.actionId}?wait=5`,
      )
      if (found.status === 'FAILED') throw new Error(found.error)
      return found.status === 'COMPLETED'
    }, TIMEOUT_MS)
  }
  /** What a client outside hears at the address until `act` is done and the other guest has answered. */
  const heardDuring = async (expected: Outcome, act: () => Promise<void>) => {
    const heard: { at: number; outcome: string }[] = []
    const child = spawn(outside.tool, [...outside.enter, process.execPath, '-e', WATCH, address], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.trim().split('\n')) heard.push({ at: Number(line.split(' ')[0]), outcome: line.split(' ')[1]! })
    })
    const isHeard = (): boolean => heard.filter(({ outcome }) => outcome === expected).length > 5
    try {
      await eventually(async () => heard.length > 5)
      const before = Date.now()
      await act()
      await eventually(async () => isHeard())
      return { heard, before }
    } finally {
      child.kill('SIGKILL')
    }
  }
  const has = (guest: Guest): Promise<boolean> => succeeds(guest, 'ip addr | grep -qF " $0/32 "', address)
  const answers = async (): Promise<string> => connect.fromOutside(address, PORT)

  test('is reached from outside at the VM that has it, and from the other VM', async () => {
    await move('POST', { vmId: one.vmId, expectedVmId: null })
    expect(await customer.get(`/addresses/${id}`)).toMatchObject({ vmId: one.vmId, guestState: 'CONFIGURED' })
    expect(await answers()).toBe('refused')
    expect(await pings(other, address)).toBe(true)
  })

  test('moves within 2 s, back and forth', async () => {
    for (const [guest, outcome] of [
      [other, 'open'],
      [one, 'refused'],
      [other, 'open'],
    ] as const) {
      const { heard, before } = await heardDuring(outcome, () => move('POST', { vmId: guest.vmId }))
      const last = heard.findLast((each) => each.outcome !== outcome)!.at
      const first = heard.find((each) => each.outcome === outcome)!.at
      console.log(
        `moved: ${first - before} ms after the request, ${first - last} ms between the last answer of one and the first of the other`,
      )
      expect([first - before < LIMIT_MS, first > last]).toEqual([true, true])
    }
  })

  test('is not usable by a VM that has it configured without owning it', async () => {
    expect(await has(one)).toBe(false)
    await inside(one, 'ip addr add "$0/32" dev eth0; arping -U -c 2 -I eth0 -s "$0" "$0"', address)
    expect(await succeeds(one, 'ping -c 1 -W 2 -I "$0" "$1"', address, outside.address)).toBe(false)
    expect(await answers()).not.toBe('refused')
    await inside(one, 'ip addr del "$0/32" dev eth0', address)
  })

  test.each([
    ['restart', {}],
    ['stop', null],
    ['rebuild', { osTemplateId }],
  ] as const)('is its owner’s again after a %s', async (verb, body) => {
    await customer.order('POST', `/vms/${other.vmId}/${verb}`, body ?? {})
    if (verb === 'stop') await customer.order('POST', `/vms/${other.vmId}/start`)
    await eventually(() => has(other), 60_000)
    expect(await eventually(async () => (await answers()) === 'refused', 30_000)).toBe(true) // nobody listens after the boot
  })

  test('is its owner’s again after the guest has rebooted itself', async () => {
    await inside(other, 'touch /run/before; (sleep 1; reboot) > /dev/null 2>&1 &')
    // A command that the reboot interrupts is waited for in vain.
    const hasBooted = (): Promise<boolean> =>
      Promise.race([succeeds(other, '[ ! -e /run/before ]').catch(() => false), sleep(5_000).then(() => false)])
    await eventually(hasBooted, TIMEOUT_MS)
    expect(await eventually(() => has(other), 60_000)).toBe(true)
  })

  test('is nobody’s once it is unassigned', async () => {
    await move('DELETE')
    expect(await answers()).toBe('silence')
    expect(await has(other)).toBe(false)
    expect(await broken()).toBe('')
  })
})
