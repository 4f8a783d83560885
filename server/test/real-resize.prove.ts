// A real guest gets vCPUs and RAM while it runs: it sees them without a reboot, on another host too after it has moved there live, when the worker is killed
// meanwhile, and after a reboot, also one of its own.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { movingGuest, TIMEOUT_MS } from './moving-guest.ts'

interface Size {
  vcpu: number
  ram: number
}

/** For two minutes in place of the guest's own: it is there, and says nothing that makes sense. */
const LYING_AGENT = `sleep 1; port=$(tr '\\0' '\\n' < /proc/$(cat /run/qemu-ga.pid)/cmdline | grep ^/dev/)
  kill $(cat /run/qemu-ga.pid); sleep 1
  (exec 3<> "$port"; while read -r line <&3; do
    case "$line" in
      *guest-sync*) echo "{\\"return\\": $(echo "$line" | sed 's/.*"id"[^0-9]*\\([0-9]*\\).*/\\1/')}" >&3 ;;
      *) echo '{"return": {}}' >&3 ;;
    esac
  done) & liar=$!
  sleep 120; kill $liar; qemu-ga -d -m virtio-serial -p "$port" -f /run/qemu-ga.pid -l /run/qemu-ga.log -t /run`

describeIf(missingForLibvirtHost())('a guest that grows', { timeout: 5 * TIMEOUT_MS }, async () => {
  const { vms, hosts, run, migrate, broken, order, ...product } = await movingGuest()
  const answer = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const { data, error } = await product.customer().send(method, `/vms/${vms.mover}${path}`, body)
    if (error !== undefined) throw new Error(error)
    return data as unknown as T
  }
  const configOf = async ({ vcpu, ram }: Size) => {
    const { disk } = await answer<{ disk: number }>('GET', '')
    return { customConfig: { vcpu, ram, disk } }
  }
  const restarts = async (size: Size) => (await answer<{ restarts: boolean }>('POST', '/resize?dryRun=true', await configOf(size))).restarts
  const resize = async (size: Size) => order('POST', `/vms/${vms.mover}/resize`, await configOf(size))
  const seen = async () => {
    const script = `nproc; awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo; cat /proc/sys/kernel/random/boot_id`
    const [vcpu, ram, bootId] = (await run(vms.mover, script)).output.trim().split('\n')
    return { vcpu: Number(vcpu), ram: Number(ram), bootId }
  }
  /** Its kernel keeps some of the RAM. */
  const expectGrown = async (before: Awaited<ReturnType<typeof seen>>, from: Size, to: Size) => {
    const now = await seen()
    expect([now.vcpu, now.bootId]).toEqual([to.vcpu, before.bootId])
    expect(now.ram - before.ram).toBeGreaterThanOrEqual((to.ram - from.ram) * 0.95)
    expect(await answer('GET', '')).toMatchObject({ status: 'RUNNING', statusReason: null, ...to })
    console.log(`${JSON.stringify(to)}: the guest sees ${now.vcpu} vCPU and ${now.ram} MiB, without a reboot`)
  }
  const START: Size = { vcpu: 1, ram: 4096 }

  test('sees its vCPUs and RAM without a reboot, here and after a live migration', async () => {
    expect(await restarts(START)).toBe(true)
    await resize(START)
    const before = await seen()
    const larger = { vcpu: 2, ram: 5120 }
    expect(await restarts(larger)).toBe(false)
    await resize(larger)
    await expectGrown(before, START, larger)
    await migrate(hosts[1]!)
    await expectGrown(before, START, larger)
    const largest = { vcpu: 3, ram: 6144 }
    expect(await restarts(largest)).toBe(false)
    await resize(largest)
    await expectGrown(before, START, largest)
    expect(await broken()).toBe('')
  })

  test('has its new size when the worker is killed meanwhile, and after a reboot', async () => {
    const before = await seen()
    const [from, to] = [
      { vcpu: 3, ram: 6144 },
      { vcpu: 4, ram: 7168 },
    ]
    const { actionId } = await answer<{ actionId: string }>('POST', '/resize', await configOf(to))
    await product.hasBegun(actionId, 'plug')
    await product.restartWorker()
    expect(await product.outcome(actionId)).toMatchObject({ status: 'COMPLETED', error: null })
    await expectGrown(before, from, to)
    const sinceBoot = async (bootId: string | undefined) => {
      const now = await seen()
      return { isRebooted: now.bootId !== bootId, vcpu: now.vcpu, hasRam: now.ram - before.ram >= (to.ram - from.ram) * 0.95 }
    }
    const whole = { isRebooted: true, vcpu: to.vcpu, hasRam: true }
    await order('POST', `/vms/${vms.mover}/restart`)
    expect(await sinceBoot(before.bootId)).toEqual(whole)
    const { bootId } = await seen()
    await product.inBackground(vms.mover, 'sleep 1; reboot')
    await expect.poll(() => sinceBoot(bootId), { timeout: TIMEOUT_MS, interval: 2_000 }).toEqual(whole)
    expect(await broken()).toBe('')
  })

  test('has and pays its new size when its agent answers nonsense', async () => {
    await order('POST', `/vms/${vms.mover}/stop`)
    await order('POST', `/vms/${vms.mover}/start`)
    const before = await seen()
    const balance = async () => Number(((await product.customer().send('GET', '/wallet')).data as unknown as { balance: string }).balance)
    const paidBefore = await balance()
    const to = { vcpu: 5, ram: 8192 }
    await product.inBackground(vms.mover, LYING_AGENT)
    await resize(to)
    expect(await answer('GET', '')).toMatchObject({ status: 'RUNNING', statusReason: expect.stringContaining('its guest agent'), ...to })
    expect(await balance()).toBeLessThan(paidBefore)
    await expect.poll(() => seen().catch(() => null), { timeout: TIMEOUT_MS, interval: 2_000 }).toMatchObject({ bootId: before.bootId })
    await order('POST', `/vms/${vms.mover}/restart`)
    expect((await seen()).vcpu).toBe(to.vcpu)
    expect(await broken()).toBe('')
  })

  test('has its size and new room after it was stopped and started', async () => {
    await order('POST', `/vms/${vms.mover}/stop`)
    await order('POST', `/vms/${vms.mover}/start`)
    expect((await seen()).vcpu).toBe(5)
    expect(await restarts({ vcpu: 8, ram: 16_384 })).toBe(false)
    expect(await restarts({ vcpu: 2, ram: 8192 })).toBe(true)
    expect(await broken()).toBe('')
  })
})
