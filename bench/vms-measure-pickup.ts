import { copyOfBase, type Postgres, type Stage } from './vms-database.ts'
import { startProgram } from './vms-process.ts'
import { median, percentile, printLimit, printRatio } from './vms-table.ts'

export async function measurePickup(postgres: Postgres, { maker }: Stage): Promise<void> {
  const worker = await startProgram('vms-queue-latency.ts', await copyOfBase(postgres, 'pickup'), postgres.folder, maker.accountId)
  await worker.ask({ rounds: 20 })
  const { product, bare } = await worker.ask<{ product: number[]; bare: number[] }>({ rounds: 150 })
  printRatio('action pickup, p50', { ours: [median(product)], floor: [median(bare)], unit: 'ms' }, { most: 2 })
  printLimit('action pickup, p95', percentile(product, 0.95), 50, 'ms')
  await worker.stop()
}
