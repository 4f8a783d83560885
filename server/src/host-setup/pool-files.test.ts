import { chmod, mkdtemp, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exposedIn, poolFiles } from './pool-files.ts'
import type { HostPlan } from './setup-step.ts'

test('files of the pool are closed to other users, except templates and what is not ours', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-pool-'))
  const plan = { poolPath: folder } as HostPlan
  const names = ['vm-cvm-1.qcow2', 'seed-cvm-1.iso', 'snapshot-cvm-cs.qcow2', 'backup-cvm-cb.qcow2', 'template-ct.qcow2', 'operators.iso']
  for (const name of names) {
    await writeFile(join(folder, name), '')
    await chmod(join(folder, name), 0o666)
  }
  expect((await poolFiles.check(plan)).ok).toBe(false)
  await poolFiles.apply(plan)
  expect((await poolFiles.check(plan)).ok).toBe(true)
  expect(await exposedIn(folder)).toEqual([])
  const modes = await Promise.all(names.map(async (name) => ((await stat(join(folder, name))).mode & 0o777).toString(8)))
  expect(modes).toEqual(['600', '600', '600', '600', '644', '666'])
})
