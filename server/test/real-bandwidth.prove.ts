// Traffic of a real guest: metering across counter resets, and the speed at the cap and after a pack.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { LIMIT } from '../src/hypervisor/ovn/rows.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests } from './real-guests.ts'

const MB = 1_000_000
const [SINK, SOURCE] = [7002, 7001]
/** Bytes of a frame for each of its payload: without offloads every segment is one. */
const FRAMED = 1514 / 1448
const THROTTLE_MBPS = 10
const FLOOD_S = 3
/** Datagrams of 1,200 bytes, about 40 Mbit/s. */
const FLOOD = `const socket = require('dgram').createSocket('udp4'), datagram = Buffer.alloc(1200), end = Date.now() + ${FLOOD_S * 1000}
  const turn = () => { for (let i = 0; i < 8; i++) socket.send(datagram, 4001, process.argv[1]); Date.now() < end ? setTimeout(turn, 1) : socket.close() }; turn()`
/** At 10 Mbit/s, with a margin for the first burst and coarse timers. */
const THROTTLED_MB_PER_S = (THROTTLE_MBPS / 8) * 1.2
const DEADLINE_MS = 90_000
/** Counters are looked at this often. */
const LOOK_MS = 5_000

/** Sends to or receives from a port until the end; prints bytes and milliseconds. */
const TRANSFER = `const [address, port, bytes] = process.argv.slice(1)
  const socket = require('net').connect(Number(port), address)
  const begun = performance.now()
  let received = 0
  socket.end(Buffer.alloc(Number(bytes)))
  socket.on('data', (some) => { received += some.length })
  socket.on('close', () => console.log(JSON.stringify({ received, ms: performance.now() - begun })))`

interface Usage {
  vmId: string
  usedBytes: number
  throttled: boolean
}

describeIf(missingForRealHost())('the traffic of a real VM', { timeout: 6 * TIMEOUT_MS }, async () => {
  const { customer, sandbox, db, boot, inside, broken } = await realGuests()
  const vm = await boot('busy')
  const restartDaemon = async (): Promise<void> => {
    await sandbox.signalDaemon('KILL')
    await sandbox.startDaemon()
  }
  /** In Mbit/s, by direction: it is the only VM. */
  const limits = async (): Promise<number[]> =>
    [...(await sandbox.inside('ovn-nbctl', '--columns=bandwidth', 'find', 'QoS', `priority=${LIMIT}`)).matchAll(/rate=(\d+)/g)].map(
      ([, kbit]) => Number(kbit) / 1000,
    )
  const usage = async (): Promise<Usage> => (await customer.get<Usage[]>('/bandwidth')).find(({ vmId }) => vmId === vm.vmId)!

  const serve = (sourceBytes: number): Promise<string> =>
    inside(
      vm,
      `nc -ll -p ${SINK} -e dd of=/dev/null bs=64k > /dev/null 2>&1 &
      nc -ll -p ${SOURCE} -e head -c ${sourceBytes} /dev/zero > /dev/null 2>&1 &`,
    )
  const transfer = async (port: number, bytes: number): Promise<{ received: number; ms: number }> =>
    JSON.parse(await sandbox.inside(process.execPath, '-e', TRANSFER, vm.address, String(port), String(bytes)))
  /** In Mbit/s: what arrives at the VM of datagrams, which do not slow down by themselves. */
  const arriving = async (): Promise<number> => {
    const [tap] = /vnet\d+/.exec(await sandbox.virsh('domiflist', `berth-${vm.vmId}`))!
    const received = async (): Promise<number> => Number(await sandbox.inside('cat', `/sys/class/net/${tap}/statistics/tx_bytes`))
    const before = await received()
    await sandbox.inside(process.execPath, '-e', FLOOD, vm.address)
    return (((await received()) - before) * 8) / FLOOD_S / 1e6
  }
  const upload = async (): Promise<number> => (await transfer(SOURCE, 0)).received
  const download = (bytes: number): Promise<{ ms: number }> => transfer(SINK, bytes)
  const megabytesPerSecond = async (bytes = 3 * MB): Promise<number> => bytes / MB / ((await download(bytes)).ms / 1000)

  test('has the speed of its plan or 10G', async () => {
    expect(await limits()).toEqual([1000, 1000])
    await db.run(sql`update hosts set uplink_mbps = 10000`)
    await customer.make(`/vms/${vm.vmId}`, { network10gEnabled: true }, 'PATCH')
    await expect.poll(limits).toEqual([10_000, 10_000])
    await customer.make(`/vms/${vm.vmId}`, { network10gEnabled: false }, 'PATCH')
    await expect.poll(limits).toEqual([1000, 1000])
  })

  test('is metered by its frames within 2 %, across stops, restarts and crashes of libvirtd', async () => {
    const { usedBytes: before } = await usage()
    const [size, less] = [20 * MB, 5 * MB]
    await serve(less)
    await download(2 * size)
    expect(await upload()).toBe(less) // small packets, whose headers count as well
    await customer.order('POST', `/vms/${vm.vmId}/stop`)
    const first = (await usage()).usedBytes - before
    expect(Math.abs(first / (2 * size + less) / FRAMED - 1)).toBeLessThan(0.02)

    await customer.order('POST', `/vms/${vm.vmId}/start`)
    await serve(less)
    await download(size)
    await restartDaemon()
    await download(size)
    await customer.order('POST', `/vms/${vm.vmId}/restart`)
    await serve(less)
    await download(size)
    await customer.order('POST', `/vms/${vm.vmId}/stop`)
    const all = (await usage()).usedBytes - before
    expect(Math.abs(all / (5 * size + less) / FRAMED - 1)).toBeLessThan(0.02)
    await customer.order('POST', `/vms/${vm.vmId}/start`)
  })

  test('is metered although the guest switches itself off before the minute is over', async () => {
    const { usedBytes: first } = await usage()
    const size = 20 * MB
    await serve(MB)
    await download(MB)
    const before = await eventually(async () => {
      const { usedBytes } = await usage()
      return usedBytes - first >= MB && usedBytes // the reading of this minute
    }, DEADLINE_MS)
    await download(size)
    await sleep(2 * LOOK_MS)
    await inside(vm, '(sleep 1; poweroff -f) > /dev/null 2>&1 &')
    const used = await eventually(async () => {
      const { status } = await customer.get<{ status: string }>(`/vms/${vm.vmId}`)
      return status === 'STOPPED' && (await usage()).usedBytes - before
    }, DEADLINE_MS)
    expect(Math.abs(used / size / FRAMED - 1)).toBeLessThan(0.02)
    await customer.order('POST', `/vms/${vm.vmId}/start`)
  })

  test('is throttled within 90 s of reaching the cap, and unthrottled after a pack', async () => {
    await serve(3 * MB)
    const fast = await megabytesPerSecond()
    await db.run(sql`
      update bandwidth_baselines b set used_bytes = v.bandwidth_gb * 1000000000::int8 - ${MB} from vms v where v.id = b.vm_id and v.id = ${vm.vmId}`)
    const elapsed = stopwatch()
    await download(2 * MB)
    const slow = await eventually(async () => {
      const rate = await megabytesPerSecond()
      return rate < THROTTLED_MB_PER_S && rate
    }, DEADLINE_MS)
    const slowAfterMs = elapsed()
    const slowUpMs = (await transfer(SOURCE, 0)).ms
    const flooded = await arriving()
    expect(Math.abs(flooded / THROTTLE_MBPS - 1)).toBeLessThan(0.15)
    expect(await usage()).toMatchObject({ throttled: true })
    expect(3000 / slowUpMs).toBeLessThan(THROTTLED_MB_PER_S)

    await customer.make(`/vms/${vm.vmId}/bandwidth/packs`, { gigabytes: 100 })
    const again = await eventually(async () => {
      const rate = await megabytesPerSecond()
      return rate > 2 * THROTTLED_MB_PER_S && rate
    }, DEADLINE_MS)
    const told = [fast, slow, 3000 / slowUpMs, again].map((rate) => rate.toFixed(2)).join(', ')
    console.log(`MB/s: before, at the cap down, at the cap up, after a pack: ${told}; slow after ${(slowAfterMs / 1000).toFixed(0)} s`)
    console.log(`datagrams at the cap: ${flooded.toFixed(2)} Mbit/s`)
    expect(await usage()).toMatchObject({ throttled: false })
    expect(await broken()).toBe('')
  })
})
