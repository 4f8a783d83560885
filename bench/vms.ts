// How the product does with VMs, each number beside what it is measured against in the same run:
//   node bench/vms.ts [memory|reads|creates|pickup …] [--creates 20000]
// Machines are shared, so product and floor take turns in short slices, and every number is a median. Bounded in time, count and place:
// three to four minutes, a few thousand creates (or as many as asked for), loopback only.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepare, withPostgres } from './vms-database.ts'
import { measureCreates } from './vms-measure-creates.ts'
import { measureFirstStart, measureMemory } from './vms-measure-memory.ts'
import { measurePickup } from './vms-measure-pickup.ts'
import { measureReads } from './vms-measure-reads.ts'
import { missed, printHead } from './vms-table.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { creates: { type: 'string', default: '4000' } } })
const wanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part)

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))

printHead()
if (wanted('memory')) await measureFirstStart(folder)
const stage = await withPostgres(folder, prepare)
if (wanted('memory')) await measureMemory(folder, stage)
await withPostgres(folder, async (postgres) => {
  if (wanted('reads')) await measureReads(postgres, stage)
  if (wanted('creates')) await measureCreates(postgres, stage, Number(values.creates))
  if (wanted('pickup')) await measurePickup(postgres, stage)
})
process.exitCode = missed() > 0 ? 1 : 0
