import type { SearchResult } from '@berth/sdk'
import { defineCommand } from '../command.ts'
import { table } from '../result.ts'

export const search = defineCommand({
  name: 'search',
  description: 'find anything of the account by name, id, address or label',
  args: '<text>',
  example: 'search 198.51.100.7',
  limits: true,
  run: async (ctx, { limit }, text: string) =>
    table(
      await ctx.berth.search(text, { ...(limit !== undefined && { limit }) }),
      {
        KIND: (each: SearchResult) => each.kind.replaceAll('_', ' '),
        NAME: (each) => each.name,
        DETAIL: (each) => each.detail,
        ID: (each) => each.id,
      },
      `Nothing found for ${text}`,
    ),
})
