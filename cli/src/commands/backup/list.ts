import type { Backup } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { bytes, time } from '../../format.ts'

export const list = verb({
  name: 'list',
  about: 'list the backups of a VM',
  args: '<vm>',
  example: 'backup list web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.backups.list(await call.id('vm', vm)).all(),
      {
        NAME: (each: Backup) => each.name,
        TYPE: (each) => each.type,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        EXPIRES: (each) => time(each.expiresAt),
        ID: (each) => each.id,
      },
      `There is no backup yet: berth backup create ${vm} <name>`,
    ),
})
