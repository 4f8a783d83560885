import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { SNAPSHOT_FIELDS } from '../views.ts'

export const create = verb<{ description?: string }>({
  name: 'create',
  about: 'keep the state of a disk',
  args: '<vm> <name>',
  options: [['--description <text>', 'what it is for']],
  example: 'snapshot create web-1 before-upgrade',
  waits: true,
  async run(call, { description }, vm: string, name: string) {
    const started = await call.berth.snapshots.create(await call.id('vm', vm), { name, ...given({ description }) })
    const again = () => call.berth.snapshots.get(started.vmId, started.snapshot.id)
    return call.finish(started, `snapshot ${name}`, async () => record(await again(), SNAPSHOT_FIELDS))
  },
})
