import { describeDeathOf } from './real-copies-crash.ts'

describeDeathOf('libvirtd', async ({ sandbox }) => {
  await sandbox.signalDaemon('KILL')
  await sandbox.startDaemon()
})
