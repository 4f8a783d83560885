// Snapshots and backups of a real guest on a real host: a restore gives back the same data.
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { GuestShell } from './guest-shell.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct } from './real-product.ts'

const FOLDER = '/var/lib/libvirt/images/berth'

describeIf(missingForRealHost())('copies of a real VM', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, host, sandbox, db, broken } = await realProduct()
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  const size = { planId: await customer.plan('nano'), dailyBackupEnabled: true }
  const vmId = await customer.order('POST', '/vms', { ...(await customer.tiny()), ...size, hostname: 'kept' })
  const files = guestFiles(shell, vmId)
  const inside = async (script: string): Promise<string> => (await shell.run(vmId, script)).output.trim()

  const snapshot = async (name: string): Promise<string> => {
    await customer.order('POST', `/vms/${vmId}/snapshots`, { name })
    const { id, status } = await db.one<{ id: string; status: string }>(
      sql`select id, status from snapshots where vm_id = ${vmId} order by id desc limit 1`,
    )
    expect(status).toBe('AVAILABLE')
    return id
  }

  test('a file named by its sha256 survives snapshot, change and restore', async () => {
    const kept = await files.write('what was there at the snapshot')
    const id = await snapshot('before')
    expect(await customer.get(`/vms/${vmId}/snapshots/${id}`)).toMatchObject({ sizeRefreshedAt: expect.any(String) })
    await files.remove(kept)
    const later = await files.write('what came later')
    expect(await files.list()).toEqual([later])
    await customer.order('POST', `/vms/${vmId}/snapshots/${id}/restore`)
    expect(await files.list()).toEqual([kept])
    await customer.order('DELETE', `/vms/${vmId}/snapshots/${id}`)
    expect(await broken()).toBe('')
  })

  test('a full and two incremental backups each restore their own state, on the VM and as a new one', async () => {
    const moments: { id: string; files: string[] }[] = []
    const made = []
    for (const night of ['first', 'second', 'third']) {
      await files.write(`${night} night`)
      const backup = await nightOf(db, vmId)
      expect(backup).toMatchObject({ status: 'AVAILABLE', error: null })
      made.push(backup)
      moments.push({ id: backup.id, files: (await files.list()).toSorted() })
    }
    expect(made.map((each) => each.parent_id)).toEqual([null, made[0]!.id, made[1]!.id])
    console.log(`sizes of a full and two incremental backups: ${made.map((each) => each.size_bytes).join(', ')} bytes`)
    for (const moment of moments.toReversed()) {
      await customer.order('POST', `/vms/${vmId}/backups/${moment.id}/restore`)
      expect((await files.list()).toSorted()).toEqual(moment.files)
    }
    const { id, files: copied } = moments[1]!
    const { osTemplateId: _, ...place } = await customer.tiny()
    const copyId = await customer.order('POST', '/vms', { ...place, planId: size.planId, fromBackupId: id, hostname: 'copied' })
    expect((await guestFiles(shell, copyId).list()).toSorted()).toEqual(copied)
    expect((await shell.run(copyId, 'hostname')).output.trim()).toBe('copied')
    await customer.order('DELETE', `/vms/${copyId}`)
    expect(await broken()).toBe('')
  })

  /** Writes continuously: files named by their sha256, and a heartbeat that stops while the guest cannot write. */
  const load = `
    mkdir -p /root/load
    (n=0; while :; do n=$((n+1)); head -c 50000 /dev/urandom > /root/load/new; sum=$(sha256sum /root/load/new); mv /root/load/new /root/load/\${sum%% *}
      [ $((n % 5)) != 0 ] || sync; usleep 20000; done) > /dev/null 2>&1 &
    (while :; do read now rest < /proc/uptime; echo $now >> /root/beats; usleep 20000; done) > /dev/null 2>&1 &
    (while :; do read now rest < /proc/uptime; echo $now >> /run/beats; usleep 20000; done) > /dev/null 2>&1 &
    echo on`
  /** The gaps between heartbeats since `since`, in seconds. */
  const longestGap = async (file: string, since: string): Promise<number> =>
    Number(await inside(`awk '$1 >= ${since} { if (last && $1 - last > most) most = $1 - last; last = $1 } END { print most }' ${file}`))

  /** The longest write pause during a snapshot. Load only adds to it, so the shortest of three counts. */
  async function pauses(): Promise<{ id: string; pauseS: number[] }> {
    const pauseS: number[] = []
    for (;;) {
      await inside('sleep 1')
      const since = await inside('read now rest < /proc/uptime; echo $now')
      const tookMs = stopwatch()
      const id = await snapshot('busy')
      const snapshotMs = Math.round(tookMs())
      pauseS.push(await longestGap('/root/beats', since))
      const idleS = await longestGap('/run/beats', since)
      console.log(
        `a snapshot under load took ${snapshotMs} ms: the guest could not write for ${pauseS.at(-1)} s, and not run for ${idleS} s`,
      )
      if (pauseS.length === 3) return { id, pauseS }
      await customer.order('DELETE', `/vms/${vmId}/snapshots/${id}`)
    }
  }

  test('a snapshot under write load pauses the guest for less than a second, passes fsck, and boots', async () => {
    expect(await inside(load)).toBe('on')
    const { id, pauseS } = await pauses()
    expect(Math.min(...pauseS)).toBeLessThan(1)

    const image = `${FOLDER}/snapshot-${vmId}-${id}.qcow2`
    const checked = await sandbox.inside(
      'sh',
      '-c',
      `qemu-img check ${image} && qemu-img convert -O raw ${image} /tmp/raw && ${CHECK_ROOT}`,
    )
    expect(checked).toContain('No errors were found')
    expect(checked).toContain('the file system is whole')

    await customer.order('POST', `/vms/${vmId}/snapshots/${id}/restore`)
    const written = await inside(
      'cd /root/load; ls | grep -c .; for f in ????*????????????????; do sha256sum $f; done | awk "\\$1 != \\$2" | wc -l',
    )
    const [count, damaged] = written.split('\n').map(Number)
    console.log(`${count} files were written under load, ${damaged} of them damaged after the restore`)
    expect(count).toBeGreaterThan(0)
    expect(damaged).toBe(0)
    expect(await inside('dmesg | grep -ciE "ext4.*(error|recover)" || true')).toBe('0')
    expect(await broken()).toBe('')
  })
})

/** The root partition is the largest. */
const CHECK_ROOT = `
  start=$(sfdisk --json /tmp/raw | tr -d ' \\n' | sed 's/},{/\\n/g' | sed -n 's/.*"start":\\([0-9]*\\),"size":\\([0-9]*\\).*/\\2 \\1/p' | sort -n | tail -1 | cut -d' ' -f2)
  e2fsck -fn "/tmp/raw?offset=$((start * 512))" && echo the file system is whole; rm -f /tmp/raw`
