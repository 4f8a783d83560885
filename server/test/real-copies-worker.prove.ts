import { describeDeathOf } from './real-copies-crash.ts'

describeDeathOf('the worker', async (product) => {
  await product.processes.worker.kill('SIGKILL')
  product.processes.worker = await product.start('worker')
})
