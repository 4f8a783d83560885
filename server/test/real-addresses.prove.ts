// Floating addresses with real guests: how long one is out of reach while it moves, and that its owner keeps it over reboot and rebuild.
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { env } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests, type Guest } from './real-guests.ts'

const PORT = 7777
const LIMIT_MS = 2_000

/** Asks who answers at the address, a connection each time, and prints when and what. */
const WATCH = `
const net = require('node:net')
const ask = () => {
  const socket = net.connect({ host: process.argv[1], port: ${PORT} })
  socket.setTimeout(150, () => socket.destroy())
  socket.on('data', (data) => { console.log(Date.now() + ' ' + String(data).trim()); socket.destroy() })
  socket.on('error', () => {})
  setTimeout(ask, 20)
}
ask()`

describeIf(missingForRealHost())('a real floating address', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, db, outside, boot, inside, succeeds, pings, broken } = await realGuests()
  await db.run(sql`update address_pools set host_id = null`)
  const { regionId, osTemplateId } = await customer.tiny()
  const [one, other] = await Promise.all([boot('one'), boot('other')])
  const sayName = async (guest: Guest, name: string): Promise<void> =>
    void (await inside(guest, `nc -ll -p ${PORT} -e echo "$0" > /dev/null 2>&1 &`, name))
  await sayName(one, 'one')
  await sayName(other, 'other')
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
  /** What a client outside hears at the address while `act` is done, and for some time after. */
  const heardDuring = async (act: () => Promise<void>) => {
    const heard: { at: number; name: string }[] = []
    const child = spawn(outside.tool, [...outside.enter, process.execPath, '-e', WATCH, address], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.trim().split('\n')) heard.push({ at: Number(line.split(' ')[0]), name: line.split(' ')[1]! })
    })
    try {
      await eventually(async () => heard.length > 20)
      const before = Date.now()
      await act()
      await eventually(async () => heard.filter(({ at, name }) => at > before && name !== heard[0]!.name).length > 20, TIMEOUT_MS)
      return { heard, before }
    } finally {
      child.kill('SIGKILL')
    }
  }
  const answers = async (): Promise<string> =>
    (await outside.run('bash', '-c', `timeout 2 head -n 1 < /dev/tcp/$0/${PORT} || true`, address)).trim()

  test('is reached from outside at the VM that has it, and from the other VM', async () => {
    await move('POST', { vmId: one.vmId, expectedVmId: null })
    expect(await customer.get(`/addresses/${id}`)).toMatchObject({ vmId: one.vmId, guestState: 'CONFIGURED' })
    await eventually(async () => (await answers()) === 'one')
    expect(await pings(other, address)).toBe(true)
  })

  test('moves within 2 s, back and forth', async () => {
    for (const [guest, from, to] of [
      [other, 'one', 'other'],
      [one, 'other', 'one'],
      [other, 'one', 'other'],
    ] as const) {
      const { heard, before } = await heardDuring(() => move('POST', { vmId: guest.vmId }))
      const last = heard.findLast(({ name }) => name === from)!.at
      const first = heard.find(({ name }) => name === to)!.at
      console.log(`moved to ${to}: ${first - before} ms after the request, ${first - last} ms in between`)
      expect([first - before < LIMIT_MS, first > last || first - last]).toEqual([true, true])
    }
  })

  test('is not usable by a VM that has it configured without owning it', async () => {
    expect(await succeeds(one, 'ip addr | grep -qF " $0/"', address)).toBe(false)
    await inside(one, 'ip addr add "$0/32" dev eth0; arping -U -c 2 -I eth0 -s "$0" "$0"', address)
    expect(await succeeds(one, 'ping -c 1 -W 2 -I "$0" "$1"', address, outside.address)).toBe(false)
    expect(await answers()).toBe('other')
    await inside(one, 'ip addr del "$0/32" dev eth0', address)
  })

  test.each([
    ['restart', {}],
    ['stop', null],
    ['rebuild', { osTemplateId }],
  ] as const)('is its owner’s again after a %s', async (verb, body) => {
    await customer.order('POST', `/vms/${other.vmId}/${verb}`, body ?? {})
    if (verb === 'stop') await customer.order('POST', `/vms/${other.vmId}/start`)
    await eventually(() => succeeds(other, 'ip addr | grep -qF " $0/32 "', address), TIMEOUT_MS)
    await sayName(other, 'again')
    await eventually(async () => (await answers()) === 'again')
  })

  test('is its owner’s again after the guest has rebooted itself', async () => {
    await inside(other, '(sleep 1; reboot) > /dev/null 2>&1 &')
    await eventually(async () => !(await succeeds(other, 'ip addr | grep -qF " $0/32 "', address).catch(() => false)), TIMEOUT_MS)
    await eventually(() => succeeds(other, 'ip addr | grep -qF " $0/32 "', address), TIMEOUT_MS)
  })

  test('is nobody’s once it is unassigned', async () => {
    await move('DELETE')
    expect(await answers()).toBe('')
    expect(await succeeds(other, 'ip addr | grep -qF " $0/32 "', address)).toBe(false)
    expect(await broken()).toBe('')
  })
})
