// A real guest on local disks moves to another real host and back while it writes, is pinged and holds a TCP connection; also when the worker is
// killed meanwhile, and while it is off.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { KEPT_PORT, LINES, movingGuest, SUM_OF_LINES, TIMEOUT_MS } from './moving-guest.ts'

const PING_EVERY_MS = 100

describeIf(missingForLibvirtHost())('a guest that moves between hosts', { timeout: 5 * TIMEOUT_MS }, async () => {
  const { vms, hosts, run, inBackground, migrate, ports, sumOf, broken, ...guest } = await movingGuest()

  test('is moved there and back while it writes, is pinged and is connected to', async () => {
    const [left, right] = hosts
    const { mover, witness, address } = vms
    await guest.expectOnlyOn(left!)
    await guest.answersPings()
    await run(mover, 'head -c 20000000 /dev/urandom > /root/before; sync')
    const before = await sumOf('/root/before')
    await inBackground(mover, `nc -l -p ${KEPT_PORT} -e cat`)
    await guest.serve()
    expect(await ports()).toEqual([true, false])
    await inBackground(witness, `ping -i ${PING_EVERY_MS / 1000} ${address} > /root/pings`)
    await inBackground(witness, `i=0; while :; do i=$((i + 1)); echo $i; sleep 0.2; done | nc ${address} ${KEPT_PORT} > /root/echoes`)
    await inBackground(mover, `seq 1 ${LINES} > /root/during; sync`)

    for (const host of [right!, left!]) console.log(`moved to ${host.name} in ${(await migrate(host)).toFixed(1)} s`)

    const echoed = async (): Promise<number[]> => (await run(witness, 'cat /root/echoes')).output.trim().split('\n').map(Number)
    const count = (await echoed()).length
    await expect.poll(async () => (await echoed()).length, { timeout: 30_000 }).toBeGreaterThan(count)
    const echoes = await echoed()
    expect(echoes).toEqual(echoes.map((_, index) => index + 1))
    await run(witness, 'killall ping nc')
    console.log(`the longest gap of its pings was ${await guest.longestGap('/root/pings', PING_EVERY_MS)} ms; its TCP connection went on`)
    await expect.poll(async () => sumOf('/root/during'), { timeout: TIMEOUT_MS }).toBe(SUM_OF_LINES)
    expect(await sumOf('/root/before')).toBe(before)
    expect(await ports()).toEqual([true, false])
    expect(await broken()).toBe('')
  })

  test('is moved once, when the worker is killed meanwhile', async () => {
    const [, right] = hosts
    const actionId = await guest.begin(right!)
    await guest.hasBegun(actionId, 'move')
    await guest.restartWorker()
    expect(await guest.outcome(actionId)).toMatchObject({ status: 'COMPLETED', error: null })
    await guest.expectOnlyOn(right!)
    expect(await ports()).toEqual([true, false])
    expect(await sumOf('/root/during')).toBe(SUM_OF_LINES)
    expect(await broken()).toBe('')
  })

  test('is moved while it is off, and starts there', async () => {
    const [left] = hosts
    await guest.order('POST', `/vms/${vms.mover}/stop`, { force: true })
    await migrate(left!)
    await guest.order('POST', `/vms/${vms.mover}/start`)
    expect(await sumOf('/root/during')).toBe(SUM_OF_LINES)
    await guest.answersPings()
    expect(await broken()).toBe('')
  })
})
