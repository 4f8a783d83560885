import { run } from '../../libvirt/test/command.ts'
import { describeDeathOnCeph } from './real-replicated-crash.ts'

/** With the programs that it has started, as systemd does. */
describeDeathOnCeph('the worker', async (product) => {
  const { worker } = product.processes
  const programs = (await run('ps', '--no-headers', '-o', 'pid', '--ppid', String(worker.pid)).catch(() => '')).split(/\s+/).filter(Boolean)
  await worker.kill('SIGKILL')
  await Promise.all(programs.map((pid) => run('kill', '-9', pid).catch(() => undefined))) // it may have ended
  product.processes.worker = await product.start('worker')
})
