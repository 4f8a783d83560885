// A process that runs the due reconcilers each time it is given a time.
import { openCore } from '../../src/compose.ts'
import { readConfig } from '../../src/config.ts'
import { renewals } from '../../src/features/billing/renew.reconciler.ts'
import { lowBalance } from '../../src/features/billing/low-balance.reconciler.ts'
import { issueInvoices } from '../../src/features/invoices/issue.reconciler.ts'
import { manualClock } from '../../src/kernel/clock.ts'
import { createLog } from '../../src/kernel/log.ts'

const config = readConfig()
const clock = manualClock()
const core = await openCore(config, config.databaseUrl!, createLog({ level: 'warn', pretty: false }), { worker: false, clock })

process.on('message', async (time: string) => {
  clock.set(new Date(time))
  for (const { runOnce: pass } of [renewals, lowBalance, issueInvoices]) await pass(core.deps)
  process.send!(time)
})
process.once('disconnect', () => process.exit(0))
process.send!('ready')
