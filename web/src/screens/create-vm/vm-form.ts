// State of the create form, and its conversion to the API request.
import type { CreateVm } from '@berth/sdk'
import { readLabels } from '../../ui/Labels.tsx'

export interface NewVolume {
  name: string
  sizeGiB: number
  /** Empty for that of the region. */
  storage: '' | 'LOCAL' | 'REPLICATED'
}

/** What a VM can have. */
export const MOST_VOLUMES = 8

export interface VmForm {
  regionId: string
  osTemplateId: string
  /** Instead of the template; empty for none. */
  fromBackupId: string
  kind: 'plan' | 'custom'
  planId: string
  vcpu: number
  ram: number
  disk: number
  hostname: string
  name: string
  password: string
  sshKeyIds: string[]
  privateNetworkIds: string[]
  firewallIds: string[]
  /** Empty for none. */
  placementGroupId: string
  newVolumes: NewVolume[]
  volumeIds: string[]
  userData: string
  /** `env=prod` each. */
  labels: string[]
  dailyBackupEnabled: boolean
  network10gEnabled: boolean
  publicIpv4: boolean
  isProtected: boolean
  count: number
  /** Ids of a region and a plan each, in the order in which they are tried. */
  alternatives: string[]
}

export const EMPTY_FORM: VmForm = {
  regionId: '',
  osTemplateId: '',
  fromBackupId: '',
  kind: 'plan',
  planId: '',
  vcpu: 2,
  ram: 4096,
  disk: 40,
  hostname: '',
  name: '',
  password: '',
  sshKeyIds: [],
  privateNetworkIds: [],
  firewallIds: [],
  placementGroupId: '',
  newVolumes: [],
  volumeIds: [],
  userData: '',
  labels: [],
  dailyBackupEnabled: false,
  network10gEnabled: false,
  publicIpv4: true,
  isProtected: false,
  count: 1,
  alternatives: [],
}

export const alternativeOf = (regionId: string, planId: string): string => `${regionId} ${planId}`
export const partsOf = (alternative: string): { regionId: string; planId: string } => {
  const [regionId = '', planId = ''] = alternative.split(' ')
  return { regionId, planId }
}

export const isPriceable = ({ regionId, osTemplateId, fromBackupId, kind, planId }: VmForm): boolean =>
  regionId !== '' && (osTemplateId !== '' || fromBackupId !== '') && (kind === 'custom' || planId !== '')

export const isComplete = (form: VmForm): boolean => isPriceable(form) && form.hostname !== ''

/** New ones first: what the API says of one is shown by its number. */
const volumesOf = ({ newVolumes, volumeIds }: VmForm): NonNullable<CreateVm['volumes']> => [
  ...newVolumes.map(({ name, sizeGiB, storage }) => ({ name, sizeGiB, ...(storage && { storage }) })),
  ...volumeIds.map((volumeId) => ({ volumeId })),
]

/** Omits fields without a value, so that the request shown as code is short. */
export function toRequest(form: VmForm): CreateVm {
  const { regionId, osTemplateId, fromBackupId, kind, planId, vcpu, ram, disk, hostname, name, password } = form
  return {
    regionId,
    ...(fromBackupId ? { fromBackupId } : { osTemplateId }),
    hostname,
    ...(kind === 'plan' ? { planId } : { customConfig: { vcpu, ram, disk } }),
    ...(name && { name }),
    ...(password && { password }),
    ...(form.sshKeyIds.length > 0 && { sshKeyIds: form.sshKeyIds }),
    ...(form.privateNetworkIds.length > 0 && { privateNetworkIds: form.privateNetworkIds }),
    ...(form.firewallIds.length > 0 && { firewallIds: form.firewallIds }),
    ...(form.placementGroupId && { placementGroupId: form.placementGroupId }),
    ...(form.newVolumes.length + form.volumeIds.length > 0 && { volumes: volumesOf(form) }),
    ...(form.userData.trim() && { userData: form.userData }),
    ...(form.labels.length > 0 && { labels: readLabels(form.labels) }),
    ...(form.dailyBackupEnabled && { dailyBackupEnabled: true }),
    ...(form.network10gEnabled && { network10gEnabled: true }),
    ...(!form.publicIpv4 && { publicIpv4: false }),
    ...(form.isProtected && { isProtected: true }),
    ...(form.count > 1 && { count: form.count }),
    ...(form.alternatives.length > 0 && { alternatives: form.alternatives.map(partsOf) }),
  }
}
