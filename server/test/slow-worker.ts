// A worker process with one additional workflow.
import { openCore, openWorker } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/kernel/log.ts'
import { slowWorkflow } from './slow-workflow.ts'

const config = readConfig()
const core = await openCore(config, config.databaseUrl!, createLog({ level: 'info', pretty: false }), {
  worker: true,
  workflows: [slowWorkflow],
})
const worker = await openWorker(core)
process.once('SIGTERM', async () => {
  await worker.close()
  await core.close()
  process.exit(0) // as berthd does: the aborted step may still be asleep
})
core.deps.log.info('ready')
