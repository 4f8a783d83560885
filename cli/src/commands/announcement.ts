import type { Announcement } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { table } from '../result.ts'

const list = defineCommand({
  name: 'list',
  description: 'list what the provider announces to you now',
  example: 'announcement list',
  async run(ctx) {
    return table(
      await ctx.berth.announcements.list(),
      {
        LEVEL: (each: Announcement) => each.level,
        SINCE: (each) => time(each.startsAt),
        TEXT: (each) => each.text,
      },
      'Nothing is announced',
    )
  },
})

export const announcement = group('announcement', 'announcements of your provider', [list])
