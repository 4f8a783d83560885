import type { OsTemplate } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { mebibytes } from '../../format.ts'

export const list = verb({
  name: 'list',
  about: 'list OS templates',
  example: 'os list',
  run: async ({ berth }) =>
    rows(
      await berth.osTemplates.list(),
      {
        SLUG: (each: OsTemplate) => each.slug,
        NAME: (each) => each.name,
        ARCH: (each) => each.arch,
        'LEAST RAM': (each) => mebibytes(each.minRam),
        'LEAST DISK': (each) => `${each.minDisk} GiB`,
        USER: (each) => each.defaultUser,
        AVAILABLE: (each) => each.available,
      },
      'There is no OS template',
    ),
})
