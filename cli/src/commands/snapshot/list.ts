import type { Snapshot } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { bytes, time } from '../../format.ts'

export const list = verb({
  name: 'list',
  about: 'list the snapshots of a VM',
  args: '<vm>',
  example: 'snapshot list web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.snapshots.list(await call.id('vm', vm)).all(),
      {
        NAME: (each: Snapshot) => each.name,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        ID: (each) => each.id,
      },
      `There is no snapshot yet: berth snapshot create ${vm} <name>`,
    ),
})
