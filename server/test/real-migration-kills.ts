// Whatever dies while a real guest moves: the action completes or is undone, one machine runs, on one host, with every byte that it had, and nothing
// of it is left on the other.
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sql } from '../src/kernel/database/db.ts'
import { movingGuest, TIMEOUT_MS } from './moving-guest.ts'
import { eventually } from './processes.ts'
import type { TlsHost } from './tls-hosts.ts'

const STEPS = ['filter', 'template', 'move', 'ports', 'clean up']
/** After the step that moves it has begun: its disk is made there, then copied, then its memory. */
const MOMENTS_MS = [0, 700, 1_500, 2_500]
/** Its disk stays where it is. */
const MOMENTS_REPLICATED_MS = [0, 400, 800, 1_200]
/** Longer than the steps wait for a host that does not answer, shorter than they try. */
const CUT_MS = 15_000
/** Instead of the folder, one with what is in it and a little room. */
const SHRINK = `
  mkdir -p /tmp/small; mount -t tmpfs -o size=$(($(du -sm "$0" | cut -f 1) + 8))m small /tmp/small
  cp -a "$0/." /tmp/small; mount --bind /tmp/small "$0"`

interface Moving {
  vmId: string
  from: TlsHost
  to: TlsHost
}

const killDaemon = async ({ sandbox }: TlsHost): Promise<void> => {
  await sandbox.inside('pkill', '-9', '-x', 'libvirtd')
  await sandbox.startDaemon()
}
const signalMachine = ({ sandbox }: TlsHost, vmId: string, signal: string): Promise<unknown> =>
  sandbox.inside('pkill', `-${signal}`, '-f', `guest=berth-${vmId},`)
const killMachine = (host: TlsHost, vmId: string): Promise<unknown> => signalMachine(host, vmId, 'KILL').catch(() => undefined) // not there yet, or not any more

const VICTIMS: Record<string, (moving: Moving) => Promise<unknown>> = {
  'libvirtd of the source': ({ from }) => killDaemon(from),
  'libvirtd of the destination': ({ to }) => killDaemon(to),
  'QEMU of the destination': ({ to, vmId }) => killMachine(to, vmId),
  'the network of the destination': async ({ to }) => {
    await to.cutOff()
    await setTimeout(CUT_MS)
    await to.reconnect()
  },
  'QEMU of the source': ({ from, vmId }) => killMachine(from, vmId),
}

export async function proveMigrationKills({ replicated }: { replicated: boolean }): Promise<void> {
  const { db, vms, hosts, run, sumOf, broken, ...guest } = await movingGuest({ replicated })
  let written = ''

  const between = async (): Promise<Moving> => {
    // One that was cut off is noticed to be back a little later.
    await eventually(
      () => db.maybe(sql`select where not exists (select from hosts where unreachable_since is not null and removed_at is null)`),
      TIMEOUT_MS,
    )
    const from = await guest.host()
    return { vmId: vms.mover, from, to: hosts.find((host) => host !== from)! }
  }
  async function expectWhole(): Promise<void> {
    await expect.poll(async () => guest.isOnlyOn(await guest.host()), { timeout: TIMEOUT_MS, interval: 1_000 }).toBe(true)
    await eventually(async () => {
      // Its QEMU was killed, which is noticed a moment later.
      if ((await guest.status()) === 'STOPPED') await guest.order('POST', `/vms/${vms.mover}/start`)
      return guest.answers()
    }, TIMEOUT_MS)
    expect(await sumOf('/root/written')).toBe(written)
    await expect.poll(broken, { timeout: 60_000, interval: 1_000 }).toBe('')
  }
  async function moveAnd(step: string, delayMs: number, kill: (moving: Moving) => Promise<unknown>) {
    const moving = await between()
    const actionId = await guest.begin(moving.to)
    await guest.hasBegun(actionId, step)
    await setTimeout(delayMs)
    await kill(moving)
    const { status } = await guest.outcome(actionId)
    const isMoved = (await guest.host()) === moving.to
    await expectWhole()
    return { status, isMoved }
  }

  test('has something to lose', async () => {
    await guest.answersPings()
    await run(vms.mover, 'head -c 30000000 /dev/urandom > /root/written; sync')
    written = await sumOf('/root/written')
    await expectWhole()
  })

  test.each(STEPS)('arrives when the worker is killed in the step %s', async (step) => {
    expect(await moveAnd(step, 0, guest.restartWorker)).toEqual({ status: 'COMPLETED', isMoved: true })
  })

  for (const [victim, kill] of Object.entries(VICTIMS))
    test.each(replicated ? MOMENTS_REPLICATED_MS : MOMENTS_MS)(
      `runs once when ${victim} is gone %d ms after it began to move`,
      async (delayMs) => {
        const { status, isMoved } = await moveAnd('move', delayMs, kill)
        console.log(`${victim} after ${delayMs} ms: ${status}, ${isMoved ? 'moved' : 'stayed'}`)
        expect(status).toBe(isMoved ? 'COMPLETED' : 'FAILED')
      },
    )

  test('is begun again when QEMU of the destination hangs', async () => {
    const hang = ({ to, vmId }: Moving) =>
      eventually(
        () =>
          signalMachine(to, vmId, 'STOP').then(
            () => true,
            () => false,
          ),
        TIMEOUT_MS,
      )
    expect(await moveAnd('move', 0, hang)).toEqual({ status: 'COMPLETED', isMoved: true })
  })

  if (replicated) return // no host has its disk

  test('stays where it is when the disk of the destination is full', async () => {
    const [left, right] = hosts
    if ((await guest.host()) !== right) await guest.migrate(right!) // the other guest is there
    const pool = '/var/lib/libvirt/images/berth'
    await left!.sandbox.inside('sh', '-ec', SHRINK, pool)
    const actionId = await guest.begin(left!)
    const { status, error } = await guest.outcome(actionId)
    await eventually(async () => (await left!.sandbox.inside('ls', pool)).includes(vms.mover) === false, TIMEOUT_MS)
    await left!.sandbox.inside('umount', pool)
    console.log(`full: ${status}, ${JSON.stringify(error)}`)
    expect([status, (await guest.host()).name]).toEqual(['FAILED', 'right'])
    await expectWhole()
  })
}
