import { describeDeathOnCeph } from './real-replicated-crash.ts'

describeDeathOnCeph('libvirtd', async ({ sandbox }) => {
  await sandbox.signalDaemon('KILL')
  await sandbox.startDaemon()
})
