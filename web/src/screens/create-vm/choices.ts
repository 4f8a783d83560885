// What can be chosen, and what the form begins with.
import type {
  Availability,
  Backup,
  Firewall,
  Image,
  Network,
  OsTemplate,
  PlacementGroup,
  Plan,
  Region,
  SshKey,
  Vm,
  Volume,
} from '@berth/sdk'
import { suggestHostname } from './names.ts'
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
  /** Those that no VM has. */
  volumes: Volume[]
  availability: Availability[]
  /** The hostnames of the account. */
  hostnames: string[]
}

/** What the VM is made of instead of a template. */
export interface BackupSource {
  vm: Vm
  backup: Backup
}

/** A template without a checksum has no image yet: it is built or downloaded before the first VM boots. Simulated hosts need no images. */
export const hasImage = ({ checksum }: Pick<OsTemplate, 'checksum'>): boolean => checksum !== ''

/** Preselects what is ready, so that one click creates a VM. A draft keeps what still exists. */
export function initialForm(choices: Choices, draft: Partial<VmForm>, source: BackupSource | null = null): VmForm {
  const { regions, templates, images, plans, keys, networks, firewalls, groups, volumes, availability, hostnames } = choices
  const offered = templates.filter(({ available, deprecatedAt }) => available && !deprecatedAt)
  const among = (items: { id: string }[], id: string | undefined): string | undefined => items.find((item) => item.id === id)?.id
  const within = (items: { id: string }[], ids: string[] | undefined): string[] | undefined =>
    ids?.filter((id) => among(items, id) !== undefined)
  const image = source ? undefined : images.find(({ id }) => id === draft.osTemplateId)
  const template = source
    ? templates.find(({ slug }) => slug === source.vm.osTemplate.slug)
    : image
      ? undefined
      : (templates.find(({ id }) => id === draft.osTemplateId) ?? offered.find(hasImage) ?? offered[0] ?? templates[0])
  const arch = source?.vm.osTemplate.arch ?? image?.arch ?? template?.arch ?? ''
  const ipv4 = { publicIpv4: draft.publicIpv4 ?? true }
  const open = regions.filter(({ available }) => available)
  const regionId =
    among(regions, draft.regionId) ??
    (open.find(({ id }) => obstacleIn(availability, ipv4, arch, id) === null) ?? open[0] ?? regions[0])?.id ??
    ''
  const drafted = source ? undefined : among(plans, draft.planId)
  const need = needOf(template, image, source)
  return {
    ...EMPTY_FORM,
    ...draft,
    regionId,
    osTemplateId: image?.id ?? template?.id ?? '',
    fromBackupId: source?.backup.id ?? '',
    planId: drafted ?? findPlan(choices, { ...ipv4, regionId }, arch, need)?.id ?? '',
    hostname: draft.hostname ?? suggestHostname(new Set(hostnames)),
    sshKeyIds: within(keys, draft.sshKeyIds) ?? (keys.length === 1 ? [keys[0]!.id] : []),
    privateNetworkIds: within(networks, draft.privateNetworkIds) ?? [],
    firewallIds: within(firewalls, draft.firewallIds) ?? [],
    volumeIds: within(volumes, draft.volumeIds) ?? [],
    placementGroupId: among(groups, draft.placementGroupId) ?? '',
    alternatives: (draft.alternatives ?? []).filter((each) => {
      const { regionId, planId } = partsOf(each)
      return among(regions, regionId) !== undefined && among(plans, planId) !== undefined
    }),
  }
}

/** What an image needs, in MiB and GiB. */
export interface Need {
  ram: number
  disk: number
}

export const needOf = (template: OsTemplate | undefined, image: Image | undefined, source: BackupSource | null): Need => ({
  ram: template?.minRam ?? 0,
  disk: Math.max(image?.disk ?? template?.minDisk ?? 0, source?.backup.disk ?? 0),
})

export const isLargeEnough = ({ ram, disk }: Plan, need: Need): boolean => ram >= need.ram && disk >= need.disk

/** Those that are sold, here first: the others say why not. */
export const plansFor = ({ plans, regions }: Choices, regionId: string): Plan[] => {
  const slug = regions.find(({ id }) => id === regionId)?.slug
  const isHere = (plan: Plan): boolean => slug === undefined || !plan.regions || plan.regions.includes(slug)
  return plans.filter(({ available }) => available).toSorted((one, other) => Number(isHere(other)) - Number(isHere(one)))
}

/** The first that can be had now; else one that is large enough at least. */
export function findPlan(choices: Choices, form: Pick<VmForm, 'regionId' | 'publicIpv4'>, arch: string, need: Need): Plan | undefined {
  const large = plansFor(choices, form.regionId).filter((plan) => isLargeEnough(plan, need))
  return (
    large.find(({ id }) => obstacleTo(choices.availability, form, arch, id) === null) ??
    large[0] ??
    choices.plans.find(({ available }) => available)
  )
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
