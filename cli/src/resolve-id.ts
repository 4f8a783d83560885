// Resolves a name to an id. Names need not be unique; an ambiguous name is an error that lists the ids,
// with the status and age of each.
import { ApiError, type Berth } from '@berth/sdk'
import { CliError, EXIT, neededFor, usageError } from './exit-codes.ts'
import { shellWord, time } from './format.ts'

interface NamedItem {
  id: string
  names: string[]
  status?: string | undefined
  createdAt?: string | undefined
}

interface Resource {
  label: string
  /** `parentId` is the owning resource, such as the VM of a snapshot. */
  list: (berth: Berth, parentId: string) => Promise<NamedItem[]>
}

const toNamedItems = <Item extends { id: string; status?: string; createdAt?: string }>(
  items: Item[],
  ...fields: (keyof Item)[]
): NamedItem[] =>
  items.map((item) => ({
    id: item.id,
    names: fields.map((field) => String(item[field])),
    status: item.status,
    createdAt: item.createdAt,
  }))

export const RESOURCES = {
  vm: { label: 'VM', list: async (berth) => toNamedItems(await berth.vms.list().all(), 'name', 'hostname') },
  network: { label: 'network', list: async (berth) => toNamedItems(await berth.networks.list().all(), 'name') },
  route: { label: 'route', list: async (berth, of) => toNamedItems(await berth.networks.routes(of), 'destination') },
  peering: { label: 'peering', list: async (berth, of) => toNamedItems(await berth.networks.peerings(of), 'name', 'networkId') },
  address: { label: 'address', list: async (berth) => toNamedItems(await berth.addresses.list().all(), 'name', 'address') },
  volume: { label: 'volume', list: async (berth) => toNamedItems(await berth.volumes.list().all(), 'name') },
  'volume-snapshot': {
    label: 'snapshot',
    list: async (berth, of) => toNamedItems(of === '' ? [] : await berth.volumeSnapshots.list(of).all(), 'name'),
  },
  firewall: { label: 'firewall', list: async (berth) => toNamedItems(await berth.firewalls.list().all(), 'name') },
  rule: { label: 'rule', list: async (berth, of) => toNamedItems(await berth.firewalls.rules(of), 'position') },
  key: { label: 'SSH key', list: async (berth) => toNamedItems(await berth.sshKeys.list().all(), 'name', 'fingerprint') },
  token: { label: 'token', list: async (berth) => toNamedItems(await berth.tokens.list().all(), 'name', 'prefix') },
  member: { label: 'member', list: async (berth) => toNamedItems(await berth.members.list().all(), 'email') },
  invitation: { label: 'invitation', list: async (berth) => toNamedItems(await berth.invitations.list().all(), 'email') },
  'placement-group': { label: 'placement group', list: async (berth) => toNamedItems(await berth.placementGroups.list().all(), 'name') },
  project: { label: 'project', list: async (berth) => toNamedItems(await berth.projects.list().all(), 'name') },
  snapshot: { label: 'snapshot', list: async (berth, of) => toNamedItems(await berth.snapshots.list(of).all(), 'name') },
  backup: { label: 'backup', list: async (berth, of) => toNamedItems(await berth.backups.list(of).all(), 'name') },
  image: { label: 'image', list: async (berth) => toNamedItems(await berth.images.list().all(), 'name') },
  iso: { label: 'ISO image', list: async (berth) => toNamedItems(await berth.images.list({ kind: 'ISO' }).all(), 'name') },
  alert: { label: 'alert', list: async (berth) => toNamedItems(await berth.alerts.list().all(), 'name') },
  webhook: { label: 'webhook', list: async (berth) => toNamedItems(await berth.webhooks.list().all(), 'url', 'description') },
  invoice: { label: 'invoice', list: async (berth) => toNamedItems(await berth.invoices.list().all(), 'number', 'month') },
  ticket: { label: 'ticket', list: async (berth) => toNamedItems(await berth.tickets.list().all(), 'subject') },
  region: { label: 'region', list: async (berth) => toNamedItems(await berth.regions.list(), 'slug', 'name') },
  plan: { label: 'plan', list: async (berth) => toNamedItems(await berth.plans.list(), 'slug', 'name') },
  os: {
    label: 'OS template',
    list: async (berth) => [...toNamedItems(await berth.osTemplates.list(), 'slug'), ...(await ownImages(berth))],
  },
} satisfies Record<string, Resource>

/** A VM is made from them as from a template. None for a token that may not read them. */
async function ownImages(berth: Berth): Promise<NamedItem[]> {
  const images = await berth.images
    .list({ kind: 'DISK' })
    .all()
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 403) return []
      throw error
    })
  return toNamedItems(images, 'name')
}

export type ResourceName = keyof typeof RESOURCES

/** What a VM is made or started from. */
const NEEDS_USABLE: ResourceName[] = ['os', 'iso']
/** Statuses of images that keep their name from no other. */
const UNUSABLE: (string | undefined)[] = ['FAILED', 'DELETING']

/** Where it is not `<resource> list`; the reader fills in `<…>` where the owning resource is not known. */
const LIST_COMMANDS: Partial<Record<ResourceName, string>> = {
  iso: 'image list',
  route: 'network route list <network>',
  peering: 'network peering list <network>',
  rule: 'firewall rule list <firewall>',
  snapshot: 'snapshot list <vm>',
  'volume-snapshot': 'volume snapshot list <volume>',
  backup: 'backup list <vm>',
}

const ID = /^c[a-z0-9]{24}$/

export const isId = (text: string): boolean => ID.test(text)

export async function resolveId(berth: Berth, kind: ResourceName, text: string, parentId = '', parentName?: string): Promise<string> {
  if (isId(text)) return text
  const { label, list }: Resource = RESOURCES[kind]
  const all = await list(berth, parentId).catch(neededFor(`to find the ${label} "${text}" by its name; an id does without it`))
  const [exact, caseInsensitive] = [filterByName(all, text, (name) => name), filterByName(all, text, (name) => name.toLowerCase())]
  const named = exact.length > 0 ? exact : caseInsensitive
  const usable = named.filter(({ status }) => !(NEEDS_USABLE.includes(kind) && UNUSABLE.includes(status)))
  const found = usable.length > 0 ? usable : named
  if (found.length === 1) return found[0]!.id
  if (found.length === 0) {
    const nearest = nearestName(all, text)
    const suggestion = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
    const command = LIST_COMMANDS[kind] ?? `${kind} list`
    const listing = parentName === undefined ? command : command.replace(/<.*>/, () => shellWord(parentName))
    throw new CliError(EXIT.notFound, `No ${label} named "${text}".${suggestion} To list them: berth ${listing}`)
  }
  throw usageError(
    `${found.length} ${label}${label.endsWith('s') ? 'es' : 's'} are named "${text}". Use an id: ${found.map(describe).join(', ')}`,
  )
}

function describe({ id, status, createdAt }: NamedItem): string {
  const facts = [...(status ? [status] : []), ...(createdAt ? [`created ${time(createdAt)}`] : [])]
  return facts.length > 0 ? `${id} (${facts.join(', ')})` : id
}

const filterByName = (all: NamedItem[], text: string, fold: (name: string) => string): NamedItem[] =>
  all.filter(({ names }) => names.some((name) => fold(name) === fold(text)))

/** A name that differs in at most two fifths of its letters, if there is one. */
function nearestName(all: NamedItem[], text: string): string | undefined {
  const ranked = all
    .flatMap(({ names }) => names)
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), text.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= 0.4 * name.length)
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.name
}

/** How many letters must be inserted, deleted or replaced to make one word of the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const letter of from) {
    const next = [row[0]! + 1]
    for (let column = 1; column <= to.length; column++) {
      const replaced = row[column - 1]! + (letter === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
