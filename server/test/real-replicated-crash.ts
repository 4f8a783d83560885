// Kills a process in every step of what makes a disk in a real Ceph cluster, or changes a volume in one. The action ends, the guest has every byte, and
// the pool has nothing else. Each topic is a file of its own for each victim: guests are slow under emulation.
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { run } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { triggerReconciler } from '../src/workflow/reconciler-loop.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRadosgw } from './radosgw.ts'
import { nightOf } from './real-copies.ts'
import { TIMEOUT_MS } from './real-product.ts'
import { missingForReplicatedProduct, replicatedProduct, type ReplicatedProduct } from './replicated-product.ts'
import { tinyImage } from './tiny-image.ts'

const PROVISION = ['networks', 'filter', 'disk', 'boot', 'ready']
const RESTORE = ['fetch', 'stop', 'networks', 'filter', 'disk', 'boot', 'ready', 'clean up']
/** So much that an image is half written for a while. */
const MIB = 24

interface Victim {
  name: string
  kill: (product: ReplicatedProduct) => Promise<unknown>
}

/** With the programs that it has started, as systemd does. */
export const WORKER: Victim = {
  name: 'the worker',
  kill: async (product) => {
    const { worker } = product.processes
    const programs = (await run('ps', '--no-headers', '-o', 'pid', '--ppid', String(worker.pid)).catch(() => ''))
      .split(/\s+/)
      .filter(Boolean)
    await worker.kill('SIGKILL')
    await Promise.all(programs.map((pid) => run('kill', '-9', pid).catch(() => undefined))) // it may have ended
    product.processes.worker = await product.start('worker')
  },
}

export const LIBVIRTD: Victim = {
  name: 'libvirtd',
  kill: async ({ sandbox }) => {
    await sandbox.signalDaemon('KILL')
    await sandbox.startDaemon()
  },
}

interface Moment {
  step: string
  /** When the pool has one whose name begins so. */
  image?: string
  /** So long after that. */
  delayMs?: number
}

/** The product, and what all topics do with it. */
async function openProduct({ name, kill }: Victim) {
  const product = await replicatedProduct()
  const { customer, db, shell, images, imagesOf, snapshotsOf, trash, broken, ended } = product
  const { regionId, osTemplateId } = await customer.tiny()
  const size = { regionId, planId: await customer.plan('nano') }

  const hash = async (vmId: string) => (await shell.run(vmId, 'sha256sum < /root/data')).output.trim()
  const write = async (vmId: string) => {
    await shell.run(vmId, `dd if=/dev/urandom of=/root/data bs=1M count=${MIB} conv=fsync 2> /dev/null`)
    return hash(vmId)
  }
  /** What the rows say, and nothing else. */
  const expectPool = async () => {
    const { names } = await db.one<{ names: string[] }>(sql`
      select array(select format('vm-%s-%s', id, generation) from vms where storage_id is not null
        union all select format('volume-%s', id) from volumes where storage_id is not null and has_data and deleted_at is null) as names`)
    const disks = async () => {
      await triggerReconciler(db, 'vms.orphan_images') // the watch of a killed process ends after half a minute
      return (await images()).filter((each) => !/^(owner|template)-/.test(each)).toSorted()
    }
    await expect.poll(disks, { timeout: TIMEOUT_MS, interval: 1_000 }).toEqual(names.toSorted())
    expect(await trash()).toEqual([])
    expect(await broken()).toBe('')
  }
  /** Runs it and kills the victim in that step, or when the pool has such an image; returns the outcome. */
  const dieIn = async ({ step, image, delayMs = 0 }: Moment, path: string, body?: object, method = 'POST') => {
    const { status, error, data } = await customer.send(method, path, body)
    expect([status === 200 ? 202 : status, error]).toEqual([202, undefined])
    const actionId = data.actionId ?? (data as unknown as { currentAction: { id: string } }).currentAction.id
    const isBegun = () => db.maybe(sql`select from workflow_steps where run_id = ${actionId} and name = ${step} and status <> 'PENDING'`)
    await eventually(isBegun, TIMEOUT_MS)
    if (image) await eventually(async () => (await images()).some((each) => each.startsWith(image)), TIMEOUT_MS)
    await setTimeout(delayMs)
    await kill(product)
    await ended(3 * TIMEOUT_MS)
    await expectPool()
    const { status: outcome } = await db.one<{ status: string }>(sql`select status from workflow_runs where id = ${actionId}`)
    console.log(`${name} killed in ${step} ${image ?? ''} ${delayMs} ms of ${method} ${path}: ${outcome}`)
    return { outcome, vmId: data.vm?.id }
  }
  const statusOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).status
  /** Of a create; the VM is deleted then. */
  const expectVm = async ({ outcome, vmId }: { outcome: string; vmId: string }, content?: string) => {
    const isMade = outcome === 'COMPLETED'
    expect([outcome, await statusOf(vmId)]).toEqual(isMade ? ['COMPLETED', 'RUNNING'] : ['FAILED', 'ERROR'])
    expect(await imagesOf(vmId)).toEqual(isMade ? [`vm-${vmId}-1`] : [])
    if (isMade) {
      const written = content ?? (await write(vmId))
      await shell.run(vmId, 'sync; echo 3 > /proc/sys/vm/drop_caches')
      expect([await hash(vmId), await snapshotsOf(`vm-${vmId}-1`)]).toEqual([written, []])
    }
    await customer.order('DELETE', `/vms/${vmId}`)
    await expectPool()
  }
  /** A VM with a daily backup in a bucket, and the hash of what is in both. */
  const backedUp = async () => {
    await product.addBucket()
    const sourceId = await customer.order('POST', '/vms', { ...size, osTemplateId, hostname: 'source', dailyBackupEnabled: true })
    const kept = await write(sourceId)
    const backup = await nightOf(db, sourceId)
    await customer.make(`/vms/${sourceId}`, { dailyBackupEnabled: false }, 'PATCH')
    return { sourceId, kept, backup }
  }
  return { ...product, regionId, osTemplateId, size, hash, write, dieIn, statusOf, expectVm, expectPool, backedUp }
}

const describeDeath = (missing: string | undefined, victim: Victim, what: string, tests: (product: Opened) => Promise<void>): void =>
  describeIf(missing)(`${what} on Ceph when ${victim.name} is killed`, { timeout: 5 * TIMEOUT_MS }, async () =>
    tests(await openProduct(victim)),
  )

type Opened = Awaited<ReturnType<typeof openProduct>>

const missingForBackups = (): string | undefined => missingForReplicatedProduct() ?? missingForRadosgw()

export const describeProvisioning = (victim: Victim): void =>
  describeDeath(missingForReplicatedProduct(), victim, 'VMs from templates', async (product) => {
    const { db, settings, size, osTemplateId, dieIn, expectVm, snapshotsOf } = product

    test.each(PROVISION)('in the step "%s"', async (step) => {
      await expectVm(await dieIn({ step }, '/vms', { ...size, osTemplateId, hostname: 'made' }))
    })

    test('with its image half imported', async () => {
      await berthdJson(settings, 'template', 'import', 'fresh', '--name', 'Fresh', '--agent', '--file', (await tinyImage()).path)
      const { id } = await db.one<{ id: string }>(sql`select id from os_templates where slug = 'fresh'`)
      const moment = { step: 'disk', image: `draft-template-${id}-` }
      await expectVm(await dieIn(moment, '/vms', { ...size, osTemplateId: id, hostname: 'made' }))
      expect(await snapshotsOf(`template-${id}`)).toEqual(['base'])
    })
  })

const half = { when: 'with its image half written', step: 'fetch', image: 'draft-backup-' }
const momentsOf = (steps: string[]) => [...steps.map((step) => ({ when: `in the step "${step}"`, step })), half]

export const describeVmsFromBackups = (victim: Victim): void =>
  describeDeath(missingForBackups(), victim, 'VMs from backups', async ({ size, dieIn, expectVm, backedUp }) => {
    const { backup, kept } = await backedUp()

    test.each(momentsOf(['fetch', ...PROVISION]))('$when', async (moment) => {
      await expectVm(await dieIn(moment, '/vms', { ...size, fromBackupId: backup.id, hostname: 'copied' }), kept)
    })
  })

export const describeRestores = (victim: Victim): void =>
  describeDeath(missingForBackups(), victim, 'restores', async ({ dieIn, hash, write, statusOf, imagesOf, snapshotsOf, backedUp }) => {
    const { sourceId, backup, kept } = await backedUp()

    test.each(momentsOf(RESTORE))('$when', async (moment) => {
      const held = async () => [await hash(sourceId), await snapshotsOf((await imagesOf(sourceId))[0]!)]
      expect(await write(sourceId)).not.toBe(kept)
      const before = await held()
      const { outcome } = await dieIn(moment, `/vms/${sourceId}/backups/${backup.id}/restore`)
      expect([outcome, await statusOf(sourceId)]).toEqual([expect.stringMatching(/^(COMPLETED|FAILED)$/), 'RUNNING'])
      expect(await held()).toEqual(outcome === 'COMPLETED' ? [kept, []] : before)
    })
  })

/** At once, and when the host may have done it and nobody has noted that. */
const DELAYS_MS = [0, 400]

export const describeVolumes = (victim: Victim): void =>
  describeDeath(missingForReplicatedProduct(), victim, 'volumes', async (product) => {
    const { customer, regionId, osTemplateId, size, shell, dieIn, expectPool, images } = product
    const boot = (hostname: string) => customer.order('POST', '/vms', { ...size, osTemplateId, hostname })
    const vmIds = [await boot('one'), await boot('other')] as const
    const order = { sizeGiB: 1, regionId, storage: 'REPLICATED' }

    interface Shown {
      id: string
      devicePath: string
      status: string
      sizeGiB: number
      vmId: string | null
    }
    const make = (name: string) => customer.make('/volumes', { ...order, name }) as unknown as Promise<Shown>
    const shown = (id: string) => customer.get<Shown>(`/volumes/${id}`)
    /** The tiny guest has no links below /dev/disk, so it looks for the serial that they are made of. */
    const onVolume = async (vmId: string, { devicePath }: Shown, script: string): Promise<string> => {
      const find = `until for each in /sys/block/vd*; do [ "$(cat $each/serial)" = "$0" ] && found=/dev/\${each##*/}; done; [ -n "$found" ]; do sleep 1; done`
      const { exitCode, output } = await shell.run(vmId, `exec 2>&1; ${find}; ${script}`, devicePath.replace(/^.*virtio-/, ''))
      expect([script, exitCode, exitCode === 0 ? '' : output]).toEqual([script, 0, ''])
      return output.trim()
    }
    const mounted = (script: string): string => `mkdir -p /mnt && mount "$found" /mnt && ${script} && umount /mnt`
    const hash = (vmId: string, volume: Shown) => onVolume(vmId, volume, mounted('sha256sum < /mnt/data'))
    const format = async (vmId: string, volume: Shown): Promise<string> => {
      const written = mounted(`dd if=/dev/urandom of=/mnt/data bs=1M count=${MIB} conv=fsync`)
      await onVolume(vmId, volume, `mkfs.ext4 -q "$found" && ${written}`)
      return hash(vmId, volume)
    }
    const disksOf = (vmId: string) => shell.run(vmId, 'ls -d /sys/block/vd* | wc -l').then(({ output }) => Number(output))
    const change = async (path: string, body?: object) => {
      const { status, error } = await customer.send('POST', path, body)
      expect([status, error]).toEqual([202, undefined])
      await product.ended(TIMEOUT_MS)
    }

    const data = await make('data')
    /** Without kills. Null: on none. */
    const moveTo = async (vmId: string | null) => {
      const before = (await shown(data.id)).vmId
      if (before !== null && before !== vmId) await change(`/volumes/${data.id}/detach`)
      if (vmId !== null && before !== vmId) await change(`/volumes/${data.id}/attach`, { vmId })
      expect(await shown(data.id)).toMatchObject({ status: vmId === null ? 'AVAILABLE' : 'ATTACHED', vmId })
    }
    const bare = await disksOf(vmIds[1])
    await moveTo(vmIds[0])
    const written = await format(vmIds[0], data)
    const momentsIn = (...steps: string[]) =>
      steps.flatMap((step) => DELAYS_MS.map((delayMs) => ({ when: `${delayMs} ms in the step "${step}"`, step, delayMs })))

    test.each<Moment & { when: string }>([
      ...momentsIn('volume', 'attach'),
      { when: 'when its image is there', step: 'volume', image: 'volume-' },
    ])('while a new one is attached, $when', async ({ image, ...moment }) => {
      const volume = await make('new')
      const { outcome } = await dieIn({ ...moment, ...(image && { image: image + volume.id }) }, `/volumes/${volume.id}/attach`, {
        vmId: vmIds[1],
      })
      const isMade = outcome === 'COMPLETED'
      expect(await shown(volume.id)).toMatchObject(isMade ? { status: 'ATTACHED', vmId: vmIds[1] } : { status: 'AVAILABLE', vmId: null })
      expect(await disksOf(vmIds[1])).toBe(isMade ? bare + 1 : bare)
      if (isMade) {
        await format(vmIds[1], volume)
        await change(`/volumes/${volume.id}/detach`)
      }
      expect((await customer.send('DELETE', `/volumes/${volume.id}`)).status).toBe(200)
      await expect.poll(async () => (await images()).filter((name) => name.includes(volume.id)), { timeout: TIMEOUT_MS }).toEqual([])
      await expectPool()
    })

    test.each(momentsIn('detach', 'boot'))('while one with data is detached, $when', async (moment) => {
      await moveTo(vmIds[0])
      const { outcome } = await dieIn(moment, `/volumes/${data.id}/detach`)
      const isDone = outcome === 'COMPLETED'
      expect(await shown(data.id)).toMatchObject(isDone ? { status: 'AVAILABLE', vmId: null } : { status: 'ATTACHED', vmId: vmIds[0] })
      expect(await disksOf(vmIds[0])).toBe(isDone ? bare : bare + 1)
      await moveTo(vmIds[1])
      expect(await hash(vmIds[1], data)).toBe(written)
    })

    test.each(momentsIn('volume', 'attach'))('while one with data is attached, $when', async (moment) => {
      await moveTo(null)
      const { outcome } = await dieIn(moment, `/volumes/${data.id}/attach`, { vmId: vmIds[1] })
      const isDone = outcome === 'COMPLETED'
      expect(await shown(data.id)).toMatchObject(isDone ? { status: 'ATTACHED', vmId: vmIds[1] } : { status: 'AVAILABLE', vmId: null })
      expect(await disksOf(vmIds[1])).toBe(isDone ? bare + 1 : bare)
      await moveTo(vmIds[1])
      expect(await hash(vmIds[1], data)).toBe(written)
    })

    test.each(momentsIn('grow'))('while it grows, $when', async (moment) => {
      await moveTo(vmIds[0])
      const before = (await shown(data.id)).sizeGiB
      const { outcome } = await dieIn(moment, `/volumes/${data.id}`, { sizeGiB: before + 1 }, 'PATCH')
      const sizeGiB = outcome === 'COMPLETED' ? before + 1 : before
      expect(await shown(data.id)).toMatchObject({ sizeGiB, status: 'ATTACHED', vmId: vmIds[0] })
      expect(await onVolume(vmIds[0], data, 'blockdev --getsize64 "$found"')).toBe(String(sizeGiB * 2 ** 30))
      expect(await hash(vmIds[0], data)).toBe(written)
    })
  })
