// Helpers of the snapshot and backup tests on real hosts.
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { sql, type Db } from '../src/kernel/database/db.ts'
import { triggerReconciler } from '../src/workflow/reconciler-loop.ts'
import type { GuestShell } from './guest-shell.ts'
import { eventually } from './processes.ts'

const TIMEOUT_MS = 240_000

/** Files in a guest named by the sha256 of their content. */
export const guestFiles = (shell: GuestShell, vmId: string) => ({
  async write(text: string): Promise<string> {
    const name = createHash('sha256').update(text).digest('hex')
    const { exitCode } = await shell.run(vmId, 'printf %s "$0" > "/root/$1" && sync', text, name)
    expect(exitCode).toBe(0)
    return name
  },
  /** The names of the intact files; the others are reported as damaged. */
  async list(): Promise<string[]> {
    const check = 'cd /root && for f in ????????????????????????????????????????????????????????????????; do sha256sum "$f"; done'
    const { output } = await shell.run(vmId, check)
    const lines = output.split('\n').filter((line) => /^[0-9a-f]{64} /.test(line))
    return lines.map((line) => line.split(/\s+/)).map(([sum, name]) => (sum === name ? name! : `${name} is damaged`))
  },
  remove: (name: string) => shell.run(vmId, 'rm "/root/$0" && sync', name),
})

interface Made {
  id: string
  status: string
  parent_id: string | null
  host_id: string
  size_bytes: bigint
  checksum: string | null
  error: string | null
}

/** Triggers the VM's daily backup now; returns it. */
export async function nightOf(db: Db, vmId: string): Promise<Made> {
  const newest = () =>
    db.maybe<Made>(sql`
    select id, status, parent_id, host_id, size_bytes, checksum, error from backups where vm_id = ${vmId} and type = 'DAILY' order by id desc limit 1`)
  const before = (await newest())?.id
  await db.run(sql`insert into backup_schedules (vm_id, next_at) values (${vmId}, now() - interval '1 minute')
    on conflict (vm_id) do update set next_at = excluded.next_at`)
  return eventually(async () => {
    await triggerReconciler(db, 'backups.daily')
    const made = await newest()
    return made && made.id !== before && (made.status === 'AVAILABLE' || made.status === 'FAILED') && made
  }, TIMEOUT_MS)
}
