// What can be chosen, and what the form begins with.
import type { Backup, Firewall, Image, Network, OsTemplate, PlacementGroup, Plan, Region, SshKey, Vm } from '@berth/sdk'
import { EMPTY_FORM, type VmForm } from './vm-form.ts'

export interface Choices {
  regions: Region[]
  templates: OsTemplate[]
  /** Own images that VMs can be made from. */
  images: Image[]
  plans: Plan[]
  keys: SshKey[]
  networks: Network[]
  firewalls: Firewall[]
  groups: PlacementGroup[]
}

/** What the VM is made of instead of a template. */
export interface BackupSource {
  vm: Vm
  backup: Backup
}

/** A template without a checksum has no image yet: it is built or downloaded before the first VM boots. Simulated hosts need no images. */
export const hasImage = ({ checksum }: Pick<OsTemplate, 'checksum'>): boolean => checksum !== ''

/** Preselects what is ready, so that only the hostname is missing. A draft keeps what still exists. */
export function initialForm(
  { regions, templates, images, plans, keys, networks, firewalls, groups }: Choices,
  draft: Partial<VmForm>,
  source: BackupSource | null = null,
): VmForm {
  const offered = templates.filter(({ available, deprecatedAt }) => available && !deprecatedAt)
  const fits = ({ ram, disk }: Plan): boolean =>
    ram >= (template?.minRam ?? 0) && disk >= Math.max(image?.disk ?? template?.minDisk ?? 0, source?.backup.disk ?? 0)
  const among = (items: { id: string }[], id: string | undefined): string | undefined => items.find((item) => item.id === id)?.id
  const within = (items: { id: string }[], ids: string[] | undefined): string[] | undefined =>
    ids?.filter((id) => among(items, id) !== undefined)
  const image = source ? undefined : images.find(({ id }) => id === draft.osTemplateId)
  const template = source
    ? templates.find(({ slug }) => slug === source.vm.osTemplate.slug)
    : image
      ? undefined
      : (templates.find(({ id }) => id === draft.osTemplateId) ?? offered.find(hasImage) ?? offered[0] ?? templates[0])
  const offeredPlans = plans.filter(({ available }) => available)
  const drafted = source ? undefined : among(plans, draft.planId)
  return {
    ...EMPTY_FORM,
    ...draft,
    regionId: among(regions, draft.regionId) ?? (regions.find(({ available }) => available) ?? regions[0])?.id ?? '',
    osTemplateId: image?.id ?? template?.id ?? '',
    fromBackupId: source?.backup.id ?? '',
    planId: drafted ?? (offeredPlans.find(fits) ?? offeredPlans[0])?.id ?? '',
    sshKeyIds: within(keys, draft.sshKeyIds) ?? (keys.length === 1 ? [keys[0]!.id] : []),
    privateNetworkIds: within(networks, draft.privateNetworkIds) ?? [],
    firewallIds: within(firewalls, draft.firewallIds) ?? [],
    placementGroupId: among(groups, draft.placementGroupId) ?? '',
  }
}

/** Those that can be chosen come first. */
export const availableFirst = <Item extends { available: boolean }>(items: Item[]): Item[] =>
  items.toSorted((one, other) => Number(other.available) - Number(one.available))
