import type { Region } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
  name: 'list',
  about: 'list regions',
  example: 'region list',
  run: async ({ berth }) =>
    rows(
      await berth.regions.list(),
      {
        SLUG: (each: Region) => each.slug,
        NAME: (each) => each.name,
        CITY: (each) => each.city,
        COUNTRY: (each) => each.country,
        AVAILABLE: (each) => each.available,
      },
      'There is no region',
    ),
})
