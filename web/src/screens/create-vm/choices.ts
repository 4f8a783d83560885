// What can be chosen, and what the form begins with.
import type { Availability, Backup, Firewall, Image, Network, OsTemplate, PlacementGroup, Plan, Region, SshKey, Vm } from '@berth/sdk'
import { EMPTY_FORM, partsOf, type VmForm } from './vm-form.ts'

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
    alternatives: (draft.alternatives ?? []).filter((each) => {
      const { regionId, planId } = partsOf(each)
      return among(regions, regionId) !== undefined && among(plans, planId) !== undefined
    }),
  }
}

type Code = NonNullable<Availability['code']>

/** Why a plan cannot be had in the region; null: it can, or nothing is known. Without a public IPv4 address none has to be free. */
export function obstacleTo(rows: Availability[], form: Pick<VmForm, 'regionId' | 'publicIpv4'>, arch: string, planId: string): Code | null {
  const row = rows.find(({ region, plan, architecture }) => region.id === form.regionId && plan.id === planId && architecture === arch)
  return !row?.code || (row.code === 'no_address' && !form.publicIpv4) ? null : row.code
}

/** Where no plan that is sold in the region can be had: why; the same for all of them, or `full`. */
export function obstacleIn(rows: Availability[], form: Pick<VmForm, 'publicIpv4'>, arch: string, regionId: string): Code | null {
  const sold = rows.filter((row) => row.region.id === regionId && row.architecture === arch && row.code !== 'plan_not_offered')
  const codes = sold.map(({ plan }) => obstacleTo(rows, { ...form, regionId }, arch, plan.id))
  if (codes.length === 0 || codes.includes(null)) return null
  return new Set(codes).size === 1 ? codes[0]! : 'full'
}

/** Those that can be chosen come first. */
export const availableFirst = <Item extends { available: boolean }>(items: Item[]): Item[] =>
  items.toSorted((one, other) => Number(other.available) - Number(one.available))
