// The disk limits of a plan as a guest measures them, of its disk and of a volume together, beside a guest of the same plan from before it had any.
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { GuestShell } from './guest-shell.ts'
import { berthdJson } from './processes.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'

const [IOPS, MIB_PER_SECOND] = [50, 4]
const TOLERANCE = 0.15

/** Seconds that reads of so many KiB of each disk take, at the same time and past the guest's cache. The size of a request is that of the
 *  read-ahead, at least a page. */
const SECONDS = `
  for disk in $2; do until [ -e /sys/block/$disk ]; do sleep 1; done; echo $0 > /sys/block/$disk/queue/read_ahead_kb; done; echo 3 > /proc/sys/vm/drop_caches
  read before rest < /proc/uptime
  for disk in $2; do dd if=/dev/$disk of=/dev/null bs=4096 count=$(($1 / 4)) 2> /dev/null & done; wait
  read after rest < /proc/uptime; echo $before $after | awk '{ print $2 - $1 }'`

describeIf(missingForRealHost())('the disk limits of a plan', { timeout: 4 * TIMEOUT_MS }, async () => {
  const { customer, host, sandbox, settings } = await realProduct()
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  const input = { ...(await customer.tiny()), planId: await customer.plan('nano') }
  const unlimited = await customer.order('POST', '/vms', { ...input, hostname: 'unlimited' })

  const seconds = async (vmId: string, readAheadKiB: number, kiB: number, disks: string[]): Promise<number> =>
    Number((await shell.run(vmId, SECONDS, String(readAheadKiB), String(kiB / disks.length), disks.join(' '))).output)
  const iops = async (vmId: string, count: number, disks = ['vda']): Promise<number> => count / (await seconds(vmId, 0, 4 * count, disks))
  const mibPerSecond = async (vmId: string, mib: number, disks = ['vda']): Promise<number> =>
    mib / (await seconds(vmId, 1024, 1024 * mib, disks))

  test.each([
    { option: '--disk-iops', other: '--disk-mib-per-second', limit: IOPS, measure: iops, unit: 'operations/s', blocks: 10 * IOPS },
    {
      option: '--disk-mib-per-second',
      other: '--disk-iops',
      limit: MIB_PER_SECOND,
      measure: mibPerSecond,
      unit: 'MiB/s',
      blocks: 10 * MIB_PER_SECOND,
    },
  ])('$option of $limit is what a guest gets, within 15 %', async ({ option, other, limit, measure, unit, blocks }) => {
    await berthdJson(settings, 'plan', 'set', 'nano', option, String(limit), other, 'none')
    const limited = await customer.order('POST', '/vms', { ...input, hostname: 'limited' })
    const without = await measure(unlimited, blocks)
    const within = await measure(limited, blocks)
    const { id } = await customer.make('/volumes', { name: 'more', sizeGiB: 1, regionId: input.regionId, vmId: limited })
    const together = await measure(limited, blocks, ['vda', 'vdc'])
    console.log(
      `${unit}: ${without.toFixed(1)} without a limit, ${within.toFixed(1)} with a limit of ${limit}, ${together.toFixed(1)} with a volume beside the disk`,
    )
    for (const measured of [within, together]) expect(Math.abs(measured - limit) / limit).toBeLessThan(TOLERANCE)
    expect(without).toBeGreaterThan(2 * limit)
    await customer.order('DELETE', `/vms/${limited}`)
    expect((await customer.send('DELETE', `/volumes/${String(id)}`)).status).toBe(200)
  })
})
