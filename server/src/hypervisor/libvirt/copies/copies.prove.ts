// Copies that are interrupted, cancelled, shared by two processes, or whose VM goes off. The conformance tests check the content of copies with
// booted guests; here the disk is filled from outside, so that a copy takes long enough to be disturbed.
import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from '../../../../test/libvirt-host.ts'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'
import { newId } from '../../../kernel/ids.ts'
import type { MachineSpec, Volume } from '../../driver.ts'

const FOLDER = '/var/lib/libvirt/images/berth'

describeIf(missingForLibvirtHost())('a running copy', { timeout: 300_000 }, () => {
  let proof: Proof
  let spec: MachineSpec

  beforeAll(async () => {
    proof = await openProof()
    spec = proof.spec()
    await proof.driver.ensureDisk(spec, { from: 'template' }, soon())
    // Without a partition nothing boots from it, and writes where we look later.
    await proof.host.sandbox.inside('qemu-io', '-c', 'write -z 0 1M', '-c', 'write -P 170 200M 600M', `${FOLDER}/vm-${spec.vmId}-1.qcow2`)
    await proof.start(spec)
  }, 300_000)
  afterAll(() => proof.close())

  const copies = async (): Promise<Volume[]> => {
    const all: Volume[] = []
    for await (const volume of proof.driver.listVolumes(soon())) if (/snapshot|backup/.test(volume.kind)) all.push(volume)
    return all
  }
  const begun = (id: string): Promise<unknown> =>
    eventually('the copy to grow', async () => (await copies()).find((each) => each.id === id && each.sizeBytes > 2 ** 20))
  const ending = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'whole',
      (error: { kind: string }) => error.kind,
    )
  /** Content of the copy, verified by QEMU. */
  const isSound = async (file: string): Promise<boolean> => {
    const said = await proof.host.sandbox.inside('qemu-io', '-U', '-r', '-c', 'read -P 170 200M 600M', `${FOLDER}/${file}`)
    return said.includes('read 629145600/629145600') && !said.includes('verification failed')
  }

  /** qemu-io records its writes in the dirty bitmaps as well. */
  const changeMuch = async (): Promise<void> => {
    await proof.driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
    await proof.host.sandbox.inside('qemu-io', '-c', 'write -P 170 200M 600M', `${FOLDER}/vm-${spec.vmId}-1.qcow2`)
    await proof.driver.ensureRunning(spec, soon())
  }

  test('is cancelled when another process removes it', async () => {
    const backupId = newId()
    const made = ending(proof.driver.ensureBackup(spec.vmId, { backupId, parentId: null }, soon()))
    await begun(backupId)
    await proof.other.ensureNoBackup(spec.vmId, backupId, soon())
    expect(await made).toBe('cancelled')
    expect(await copies()).toEqual([])
  })

  test('is incomplete after an abort, and completed by the next call', async () => {
    const snapshotId = newId()
    const abort = new AbortController()
    const made = ending(proof.driver.ensureSnapshot(spec.vmId, snapshotId, abort.signal))
    await begun(snapshotId)
    abort.abort()
    expect(await made).toBe('aborted')
    expect(await copies()).toMatchObject([{ id: snapshotId, complete: false }])
    await proof.other.ensureSnapshot(spec.vmId, snapshotId, soon())
    expect(await copies()).toMatchObject([{ id: snapshotId, complete: true }])
    expect(await isSound(`snapshot-${spec.vmId}-${snapshotId}.qcow2`)).toBe(true)
    await proof.driver.ensureNoSnapshot(spec.vmId, snapshotId, soon())
  })

  test('of a backup is completed by the next call, and stays incremental', async () => {
    const [parentId, backupId] = [newId(), newId()]
    const { vmId } = spec
    for (const request of [
      { backupId: parentId, parentId: null },
      { backupId, parentId },
    ]) {
      const abort = new AbortController()
      const made = ending(proof.driver.ensureBackup(vmId, request, abort.signal))
      await begun(request.backupId)
      abort.abort()
      expect(await made).toBe('aborted')
      expect(await proof.other.ensureBackup(vmId, request, soon())).toMatchObject({ parentId: request.parentId })
      if (request.backupId === parentId) await changeMuch()
    }
    expect(await isSound(`backup-${vmId}-${backupId}.qcow2`)).toBe(true)
    for (const id of [backupId, parentId]) await proof.driver.ensureNoBackup(vmId, id, soon())
  })

  test('continues for one process when the other aborts', async () => {
    const snapshotId = newId()
    const abort = new AbortController()
    const first = ending(proof.driver.ensureSnapshot(spec.vmId, snapshotId, abort.signal))
    const second = ending(proof.other.ensureSnapshot(spec.vmId, snapshotId, soon()))
    await begun(snapshotId)
    abort.abort()
    expect(await first).toBe('aborted')
    expect(await second).toBe('whole')
    expect(await isSound(`snapshot-${spec.vmId}-${snapshotId}.qcow2`)).toBe(true)
    await proof.driver.ensureNoSnapshot(spec.vmId, snapshotId, soon())
  })

  test('is shared by two processes that start it at nearly the same moment', async () => {
    for (const apartMs of [0, 2, 5, 9, 14, 20]) {
      const snapshotId = newId()
      const first = ending(proof.driver.ensureSnapshot(spec.vmId, snapshotId, soon()))
      await pause(apartMs)
      const second = ending(proof.other.ensureSnapshot(spec.vmId, snapshotId, soon()))
      expect([apartMs, await first, await second]).toEqual([apartMs, 'whole', 'whole'])
      await proof.driver.ensureNoSnapshot(spec.vmId, snapshotId, soon())
    }
  })

  test('of a VM that is off is completed in the end, and keeps the dirty bitmap', async () => {
    const { vmId } = spec
    const { folder, inside, signalDaemon, startDaemon, virsh } = proof.host.sandbox
    const [parentId, backupId, snapshotId] = [newId(), newId(), newId()]
    const file = `snapshot-${vmId}-${snapshotId}.qcow2`
    await proof.driver.ensureBackup(vmId, { backupId: parentId, parentId: null }, soon())
    await proof.driver.ensureStopped(vmId, { graceMs: 0 }, soon())
    const abort = new AbortController()
    const aborted = ending(proof.driver.ensureSnapshot(vmId, snapshotId, abort.signal))
    await begun(snapshotId)
    abort.abort()
    expect(await aborted).toBe('aborted')
    const left = ending(proof.driver.ensureSnapshot(vmId, snapshotId, soon()))
    const reader = await eventually('the reader', () => virsh('dumpxml', `berth-copy-${vmId}`))
    await signalDaemon('KILL')
    await startDaemon()
    expect(await left).not.toBe('whole')
    await writeFile(`${folder}/reader.xml`, reader)
    // As if its process had died with the daemon. The previous one may still be shutting down.
    await eventually('a reader that nobody uses', () => virsh('create', `${folder}/reader.xml`, '--paused'))
    const both = [proof.driver, proof.other].map((driver) => ending(driver.ensureSnapshot(vmId, snapshotId, soon())))
    expect(await Promise.all(both)).toEqual(['whole', 'whole'])
    expect(await isSound(file)).toBe(true)
    expect(await inside('qemu-img', 'info', `${FOLDER}/${file}`)).not.toContain('backing file')
    expect(await virsh('list', '--all', '--name')).not.toContain('copy')
    await proof.driver.ensureRunning(spec, soon())
    expect(await proof.driver.ensureBackup(vmId, { backupId, parentId }, soon())).toMatchObject({ parentId })
    for (const id of [backupId, parentId]) await proof.driver.ensureNoBackup(vmId, id, soon())
    await proof.driver.ensureNoSnapshot(vmId, snapshotId, soon())
  })

  test('fails with its VM; the next backup is full, because the dirty bitmap is inconsistent', async () => {
    const [parentId, cutId, backupId] = [newId(), newId(), newId()]
    await proof.driver.ensureBackup(spec.vmId, { backupId: parentId, parentId: null }, soon())
    const made = ending(proof.driver.ensureSnapshot(spec.vmId, cutId, soon()))
    await begun(cutId)
    await proof.host.sandbox.inside('sh', '-c', `kill -9 $(cat /run/libvirt/qemu/berth-${spec.vmId}.pid)`)
    expect(await made).toBe('transient')
    await proof.driver.ensureRunning(spec, soon())
    expect(await proof.driver.ensureBackup(spec.vmId, { backupId, parentId }, soon())).toMatchObject({ parentId: null })
    expect(await isSound(`backup-${spec.vmId}-${backupId}.qcow2`)).toBe(true)
  })

  test('of a VM that is off yields to every other operation on the disk', async () => {
    const { vmId } = spec
    for (const act of [
      () => proof.other.ensureDefined({ ...spec, diskGiB: 2 }, soon()),
      () => proof.other.ensureRunning(spec, soon()),
      () => proof.other.ensurePurged(vmId, soon()),
    ]) {
      const backupId = newId()
      await proof.driver.ensureStopped(vmId, { graceMs: 0 }, soon())
      const made = ending(proof.driver.ensureBackup(vmId, { backupId, parentId: null }, soon()))
      await begun(backupId)
      await act()
      expect(await made).not.toBe('whole')
      await proof.driver.ensureNoBackup(vmId, backupId, soon())
    }
    expect(await copies()).toEqual([])
  })

  test('first thaws a guest that a dead process left frozen', async () => {
    const snapshotId = newId()
    const guest = proof.spec()
    await proof.start(guest)
    const { virsh } = proof.host.sandbox
    const status = () => virsh('qemu-agent-command', `berth-${guest.vmId}`, '{"execute":"guest-fsfreeze-status"}')
    await proof.driver.ensureReady(guest.vmId, { timeoutMs: 120_000 }, soon())
    for (const next of [proof.driver.ensureSnapshot, proof.driver.ensureNoSnapshot]) {
      await virsh('domfsfreeze', `berth-${guest.vmId}`)
      expect(await status()).toContain('frozen')
      await next(guest.vmId, snapshotId, soon())
      expect(await status()).toContain('thawed')
    }
    await proof.driver.ensurePurged(guest.vmId, soon())
  })
})
