// The promises every driver keeps, kept by real guests whose disks are in a real Ceph cluster; and what only holds there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { eventually } from '../../../../libvirt/test/eventually.ts'
import { missingForCeph } from '../../../test/ceph.ts'
import { missingForLibvirtHost } from '../../../test/libvirt-host.ts'
import { cephDriverFixture, type CephDriverFixture } from '../../../test/libvirt-driver-fixture.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { newId } from '../../kernel/ids.ts'
import { describeDriver } from '../conformance.ts'
import { changeTo, create, next, soon, stop } from '../conformance/fixture.ts'

describeIf(missingForLibvirtHost() ?? missingForCeph() ?? missingCommands(`qemu-system-${nativeArch()}`))('disks in Ceph', () => {
  describeDriver('libvirt', () => cephDriverFixture(), { timeoutMs: 900_000, storage: 'backend' })

  describe('beyond the promises', () => {
    let fixture: CephDriverFixture
    beforeAll(async () => void (fixture = await cephDriverFixture(3)), 300_000)
    afterAll(() => fixture.close())

    test('a VM that lived through restores is purged, and the pool has nothing of it', async () => {
      const spec = await create(fixture)
      const snapshotId = newId()
      await fixture.guest.write(spec.vmId, 'kept')
      await fixture.driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture))
      const restored = next(spec)
      await fixture.driver.ensureDisk(restored, { from: 'snapshot', snapshotId }, soon(fixture))
      await changeTo(fixture, restored)
      await fixture.driver.ensureNoDisk(spec.vmId, spec.generation, soon(fixture))
      expect(await fixture.guest.read(spec.vmId)).toBe('kept')
      await fixture.guest.crash(spec.vmId)
      await fixture.driver.ensurePurged(spec.vmId, soon(fixture))
      expect(await fixture.cluster.rbd('ls', fixture.pool)).not.toContain(spec.vmId)
      expect(await fixture.cluster.rbd('trash', 'ls', fixture.pool)).toBe('')
    })

    test('a guest that writes while an OSD is killed notices nothing, and has written every byte', async () => {
      const spec = await create(fixture)
      const script = `set -e
        for i in 1 2 3 4 5 6 7 8; do sleep 1; dd if=/dev/urandom of=/root/$i bs=1M count=8 conv=fsync 2>/dev/null; done
        cat /root/[1-8] | sha256sum; sync; echo 3 > /proc/sys/vm/drop_caches; cat /root/[1-8] | sha256sum; dmesg | grep -c 'I/O error' || true`
      const writing = fixture.run(spec.vmId, script)
      const has = async (name: string): Promise<boolean> => (await fixture.run(spec.vmId, 'test -e "/root/$0"', name)).exitCode === 0
      await eventually('the second file', () => has('2'), fixture.patienceMs)
      expect(await has('8')).toBe(false)
      await fixture.cluster.killOsd(1)
      const { exitCode, output } = await writing
      const [written, read, errors] = output.trim().split('\n')
      expect([exitCode, read, errors]).toEqual([0, written, '0'])
      expect(JSON.parse(await fixture.cluster.ceph('osd', 'stat', '-f', 'json'))).toMatchObject({ num_up_osds: 2 })
      await stop(fixture, spec)
      await fixture.driver.ensureRunning(spec, soon(fixture))
      await fixture.driver.ensureReady(spec.vmId, { timeoutMs: fixture.patienceMs }, soon(fixture))
      expect((await fixture.run(spec.vmId, 'cat /root/[1-8] | sha256sum')).output.trim()).toBe(written)
    })

    test('the daemon that loses its secrets gets them again with the next start', async () => {
      const spec = await create(fixture)
      await fixture.losePower()
      await fixture.driver.ensureRunning(spec, soon(fixture))
      const ready = await fixture.driver.ensureReady(spec.vmId, { timeoutMs: fixture.patienceMs }, soon(fixture))
      expect(ready).toEqual({ readiness: 'reachable' })
    })
  })
})
