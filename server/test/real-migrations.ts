// A real guest that moves there and back many times while it writes, is pinged every 10 ms, and holds a TCP connection. What its firewall denies
// is tried every 10 ms too, and never passes.
import { expect, test } from 'vitest'
import { KEPT_PORT, LINES, movingGuest, SUM_OF_LINES, TIMEOUT_MS } from './moving-guest.ts'

const MOVES = 20
const PROBE_EVERY_MS = 10

/** `mostMs`: of the longest gaps of the moves, that of the second longest of twenty. */
export async function proveMigrations({ replicated, mostMs }: { replicated: boolean; mostMs: number }): Promise<void> {
  const { vms, hosts, run, inBackground, migrate, sumOf, broken, ...guest } = await movingGuest({ replicated })

  test(`moves ${MOVES} times: gaps below ${mostMs} ms, no byte lost, the firewall in force throughout`, async () => {
    const { mover, witness, address, witnessAddress, firewallId } = vms
    await guest.answersPings()
    await run(mover, 'head -c 20000000 /dev/urandom > /root/before; sync')
    const before = await sumOf('/root/before')
    await inBackground(mover, `nc -l -p ${KEPT_PORT} -e cat`)
    await inBackground(witness, `i=0; while :; do i=$((i + 1)); echo $i; sleep 0.2; done | nc ${address} ${KEPT_PORT} > /root/echoes`)
    const every = `-i ${PROBE_EVERY_MS / 1000}`
    await inBackground(mover, `ping ${every} ${witnessAddress} > /root/denied`)

    const gaps: number[] = []
    for (let move = 1; move <= MOVES; move++) {
      const to = hosts[move % 2]!
      await inBackground(witness, `ping ${every} ${address} > /root/pings-${move}`)
      await inBackground(mover, `seq 1 ${LINES} > /root/during; sync; sha256sum /root/during > /root/sum-${move}`)
      const seconds = await migrate(to)
      await run(witness, 'killall ping')
      gaps.push(await guest.longestGap(`/root/pings-${move}`, PROBE_EVERY_MS))
      console.log(`move ${move} to ${to.name}: ${seconds.toFixed(1)} s, longest gap ${gaps.at(-1)} ms`)
      await expect.poll(async () => (await run(mover, `cat /root/sum-${move}`)).output, { timeout: TIMEOUT_MS }).toContain(SUM_OF_LINES)
    }

    const p95 = gaps.toSorted((a, b) => a - b)[Math.ceil(0.95 * gaps.length) - 1]!
    console.log(`${MOVES} moves, longest gap of each: p95 ${p95} ms, at most ${Math.max(...gaps)} ms`)
    expect(p95).toBeLessThanOrEqual(mostMs)
    expect(await sumOf('/root/before')).toBe(before)
    const echoes = (await run(witness, 'cat /root/echoes')).output.trim().split('\n').map(Number)
    expect(echoes).toEqual(echoes.map((_, index) => index + 1))

    await run(mover, 'killall -INT ping; sleep 1')
    const { output } = await run(mover, 'grep -c "bytes from" /root/denied; tail -n 2 /root/denied')
    console.log(`of what the firewall denies: ${output.trim().replaceAll('\n', '; ')}`)
    expect(output).toMatch(/^0\n/)
    expect(Number(/(\d+) packets transmitted/.exec(output)?.[1])).toBeGreaterThan(1000)
    await guest.customer().send('PUT', `/firewalls/${firewallId}/rules`, { rules: [] })
    await expect
      .poll(async () => (await run(mover, 'ping -c 1 -W 2 "$0"', witnessAddress)).exitCode, { timeout: 60_000 }) // it can be seen to pass
      .toBe(0)
    expect(await broken()).toBe('')
  })
}
