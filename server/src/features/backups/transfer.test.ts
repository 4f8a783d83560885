import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Driver } from '../../hypervisor/driver.ts'
import { transferBackup } from './transfer.ts'

test('a failed upload destroys the download stream, even one that has stalled', async () => {
  const bytes = new Readable({ read: () => undefined })
  const from = { readBackup: () => Promise.resolve(bytes) } as Partial<Driver> as Driver
  const full = async (open: () => Promise<Readable>): Promise<never> => {
    const arriving = await open()
    arriving.read()
    arriving.destroy()
    throw new Error('no room')
  }
  const to = { ensureBackupCopy: (_vmId, _order, open) => full(open) } as Partial<Driver> as Driver
  const order = { backupId: 'cbackup', parentId: null }
  await expect(transferBackup(from, to, 'cvm', order, AbortSignal.timeout(10_000))).rejects.toThrow('no room')
  await expect.poll(() => bytes.destroyed).toBe(true)
})
