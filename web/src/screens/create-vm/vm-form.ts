// What is being ordered, as the form holds it and as the API takes it.
import type { CreateVm } from '@berth/sdk'

export interface Order {
  regionId: string
  osTemplateId: string
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
  dailyBackupEnabled: boolean
  network10gEnabled: boolean
  isProtected: boolean
}

export const EMPTY: Order = {
  regionId: '',
  osTemplateId: '',
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
  dailyBackupEnabled: false,
  network10gEnabled: false,
  isProtected: false,
}

export const isComplete = ({ regionId, osTemplateId, kind, planId, hostname }: Order): boolean =>
  regionId !== '' && osTemplateId !== '' && hostname !== '' && (kind === 'custom' || planId !== '')

/** Says only what was chosen, so that the code shown for it is short. */
export function toRequest(order: Order): CreateVm {
  const { regionId, osTemplateId, kind, planId, vcpu, ram, disk, hostname, name, password } = order
  return {
    regionId,
    osTemplateId,
    hostname,
    ...(kind === 'plan' ? { planId } : { customConfig: { vcpu, ram, disk } }),
    ...(name && { name }),
    ...(password && { password }),
    ...(order.sshKeyIds.length > 0 && { sshKeyIds: order.sshKeyIds }),
    ...(order.privateNetworkIds.length > 0 && { privateNetworkIds: order.privateNetworkIds }),
    ...(order.firewallIds.length > 0 && { firewallIds: order.firewallIds }),
    ...(order.dailyBackupEnabled && { dailyBackupEnabled: true }),
    ...(order.network10gEnabled && { network10gEnabled: true }),
    ...(order.isProtected && { isProtected: true }),
  }
}
