import type { Berth } from '@berth/sdk'
import type { CommandContext } from '../command-context.ts'
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText } from '../format.ts'
import { parseLabels } from '../options.ts'
import type { ResourceName } from '../resolve-id.ts'
import { message } from '../result.ts'

type Labels = Record<string, string>

interface Labelled {
  get(id: string): Promise<{ labels: Labels }>
  set(id: string, labels: Labels): Promise<{ labels: Labels }>
}

const KINDS = {
  vm: ({ vms }) => ({ get: (id) => vms.get(id), set: (id, labels) => vms.update(id, { labels }) }),
  network: ({ networks }) => ({ get: (id) => networks.get(id), set: (id, labels) => networks.update(id, { labels }) }),
  address: ({ addresses }) => ({ get: (id) => addresses.get(id), set: (id, labels) => addresses.update(id, { labels }) }),
  volume: ({ volumes }) => ({ get: (id) => volumes.get(id), set: (id, labels) => volumes.update(id, { labels }) }),
  image: ({ images }) => ({ get: (id) => images.get(id), set: (id, labels) => images.update(id, { labels }) }),
  firewall: ({ firewalls }) => ({ get: (id) => firewalls.get(id), set: (id, labels) => firewalls.update(id, { labels }) }),
  key: ({ sshKeys }) => ({ get: (id) => sshKeys.get(id), set: (id, labels) => sshKeys.update(id, { labels }) }),
  'placement-group': ({ placementGroups: groups }) => ({
    get: (id) => groups.get(id),
    set: (id, labels) => groups.update(id, { labels }),
  }),
  alert: ({ alerts }) => ({ get: (id) => alerts.get(id), set: (id, labels) => alerts.update(id, { labels }) }),
  webhook: ({ webhooks }) => ({ get: (id) => webhooks.get(id), set: (id, labels) => webhooks.update(id, { labels }) }),
} satisfies Partial<Record<ResourceName, (berth: Berth) => Labelled>>

/** Of a VM or a volume, given before a slash. */
const COPIES = {
  snapshot: {
    of: 'vm',
    labelled: ({ snapshots }, of) => ({ get: (id) => snapshots.get(of, id), set: (id, labels) => snapshots.update(of, id, { labels }) }),
  },
  backup: {
    of: 'vm',
    labelled: ({ backups }, of) => ({ get: (id) => backups.get(of, id), set: (id, labels) => backups.update(of, id, { labels }) }),
  },
  'volume-snapshot': {
    of: 'volume',
    labelled: ({ volumeSnapshots }, of) => ({
      get: (id) => volumeSnapshots.get(of, id),
      set: (id, labels) => volumeSnapshots.update(of, id, { labels }),
    }),
  },
} satisfies Partial<Record<ResourceName, { of: 'vm' | 'volume'; labelled: (berth: Berth, of: string) => Labelled }>>

export const label = defineCommand({
  name: 'label',
  description: 'set and remove labels; the others stay',
  args: '<kind> <name> <label...>',
  example: 'label vm web-1 env=prod tier=web old-',
  async run(ctx, _, kind: string, name: string, ...given: string[]) {
    const [id, { get, set }] = await find(ctx, kind, name)
    const changes = given.flat()
    const removed = changes.filter((each) => each.endsWith('-') && !each.includes('=')).map((each) => each.slice(0, -1))
    const added = parseLabels(changes.filter((each) => !each.endsWith('-') || each.includes('='))) ?? {}
    const kept = Object.entries((await get(id)).labels).filter(([key]) => !removed.includes(key))
    const changed = await set(id, { ...Object.fromEntries(kept), ...added })
    return message(changed, name, `${name}: ${labelText(changed.labels) || 'no labels'}`)
  },
})

async function find(ctx: CommandContext, kind: string, name: string): Promise<[string, Labelled]> {
  if (Object.hasOwn(KINDS, kind)) {
    const known = kind as keyof typeof KINDS
    return [await ctx.resolveId(known, name), KINDS[known](ctx.berth)]
  }
  if (!Object.hasOwn(COPIES, kind))
    throw usageError(`${kind} has no labels. What has: ${[...Object.keys(KINDS), ...Object.keys(COPIES)].join(', ')}`)
  const known = kind as keyof typeof COPIES
  const { of, labelled } = COPIES[known]
  const [, owner, copy] = /^([^/]+)\/(.+)$/.exec(name) ?? []
  if (!owner || !copy) throw usageError(`Give <${of}>/<${known}>, such as web-1/monday`)
  const ownerId = await ctx.resolveId(of, owner)
  return [await ctx.resolveId(known, copy, ownerId), labelled(ctx.berth, ownerId)]
}
