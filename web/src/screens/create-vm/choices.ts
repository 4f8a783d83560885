// What can be chosen, and what the form begins with.
import type { Firewall, Network, OsTemplate, Plan, Region, SshKey } from '@berth/sdk'
import { EMPTY_FORM, type VmForm } from './vm-form.ts'

export interface Choices {
  regions: Region[]
  templates: OsTemplate[]
  plans: Plan[]
  keys: SshKey[]
  networks: Network[]
  firewalls: Firewall[]
}

/** A template without a checksum has no image yet: it is built or downloaded before the first VM boots. Simulated hosts need no images. */
export const hasImage = ({ checksum }: Pick<OsTemplate, 'checksum'>): boolean => checksum !== ''

/** Preselects what is ready, so that only the hostname is missing. A draft keeps what still exists. */
export function initialForm({ regions, templates, plans, keys, networks, firewalls }: Choices, draft: Partial<VmForm>): VmForm {
  const offered = templates.filter(({ available, deprecatedAt }) => available && !deprecatedAt)
  const fitting = (template: OsTemplate | undefined): Plan | undefined =>
    plans.find(({ available, ram, disk }) => available && ram >= (template?.minRam ?? 0) && disk >= (template?.minDisk ?? 0))
  const among = (items: { id: string }[], id: string | undefined): string | undefined => items.find((item) => item.id === id)?.id
  const within = (items: { id: string }[], ids: string[] | undefined): string[] | undefined =>
    ids?.filter((id) => among(items, id) !== undefined)
  const template = templates.find(({ id }) => id === draft.osTemplateId) ?? offered.find(hasImage) ?? offered[0] ?? templates[0]
  return {
    ...EMPTY_FORM,
    ...draft,
    regionId: among(regions, draft.regionId) ?? (regions.find(({ available }) => available) ?? regions[0])?.id ?? '',
    osTemplateId: template?.id ?? '',
    planId: among(plans, draft.planId) ?? (fitting(template) ?? plans.find(({ available }) => available))?.id ?? '',
    sshKeyIds: within(keys, draft.sshKeyIds) ?? (keys.length === 1 ? [keys[0]!.id] : []),
    privateNetworkIds: within(networks, draft.privateNetworkIds) ?? [],
    firewallIds: within(firewalls, draft.firewallIds) ?? [],
  }
}

/** Those that can be chosen come first. */
export const availableFirst = <Item extends { available: boolean }>(items: Item[]): Item[] =>
  items.toSorted((one, other) => Number(other.available) - Number(one.available))
