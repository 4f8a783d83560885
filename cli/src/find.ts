// Everything can be called by its id or by its name. Names need not be unique; then only ids help.
import type { Berth } from '@berth/sdk'
import { EXIT, Failure, wrongUsage } from './failure.ts'

interface Named {
  id: string
  names: string[]
}

interface Kind {
  label: string
  /** `of` is the thing it belongs to, such as the VM of a snapshot. */
  list: (berth: Berth, of: string) => Promise<Named[]>
}

const named = <Item extends { id: string }>(items: Item[], ...fields: (keyof Item)[]): Named[] =>
  items.map((item) => ({ id: item.id, names: fields.map((field) => String(item[field])) }))

export const KINDS = {
  vm: { label: 'VM', list: async (berth) => named(await berth.vms.list().all(), 'name', 'hostname') },
  network: { label: 'network', list: async (berth) => named(await berth.networks.list().all(), 'name') },
  firewall: { label: 'firewall', list: async (berth) => named(await berth.firewalls.list().all(), 'name') },
  rule: { label: 'rule', list: async (berth, of) => named(await berth.firewalls.rules(of), 'position') },
  key: { label: 'SSH key', list: async (berth) => named(await berth.sshKeys.list().all(), 'name', 'fingerprint') },
  snapshot: { label: 'snapshot', list: async (berth, of) => named(await berth.snapshots.list(of).all(), 'name') },
  backup: { label: 'backup', list: async (berth, of) => named(await berth.backups.list(of).all(), 'name') },
  webhook: { label: 'webhook', list: async (berth) => named(await berth.webhooks.list().all(), 'url', 'description') },
  invoice: { label: 'invoice', list: async (berth) => named(await berth.invoices.list().all(), 'number', 'month') },
  ticket: { label: 'ticket', list: async (berth) => named(await berth.tickets.list().all(), 'subject') },
  region: { label: 'region', list: async (berth) => named(await berth.regions.list(), 'slug', 'name') },
  plan: { label: 'plan', list: async (berth) => named(await berth.plans.list(), 'slug', 'name') },
  os: { label: 'OS template', list: async (berth) => named(await berth.osTemplates.list(), 'slug') },
} satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS

const ID = /^c[a-z0-9]{24}$/

export async function findId(berth: Berth, kind: KindName, text: string, of = ''): Promise<string> {
  if (ID.test(text)) return text
  const { label, list }: Kind = KINDS[kind]
  const all = await list(berth, of)
  const [exact, alike] = [withName(all, text, (name) => name), withName(all, text, (name) => name.toLowerCase())]
  const found = exact.length > 0 ? exact : alike
  if (found.length === 1) return found[0]!.id
  if (found.length === 0) throw new Failure(EXIT.notFound, `There is no ${label} "${text}". List them to see what there is`)
  throw wrongUsage(`${found.length} of your ${label}s are called "${text}". Use an id: ${found.map(({ id }) => id).join(', ')}`)
}

const withName = (all: Named[], text: string, fold: (name: string) => string): Named[] =>
  all.filter(({ names }) => names.some((name) => fold(name) === fold(text)))
