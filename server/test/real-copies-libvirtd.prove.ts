import { describeDeathOf } from './real-copies-crash.ts'

describeDeathOf('libvirtd', async ({ box }) => {
  await box.signalDaemon('KILL')
  await box.startDaemon()
})
