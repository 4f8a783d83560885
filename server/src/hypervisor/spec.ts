// The nouns of the driver interface, in our words. Nothing here is text of a customer's but the hostname, the login user and the
// ssh keys, and these reach the guest only, never a definition on the host.

/** What a guest's processor speaks. */
import type { Arch } from '../kernel/arch.ts'

export type { Arch } from '../kernel/arch.ts'

/** Bytes per GiB. */
export const GIB = 2 ** 30

export interface TemplateRef {
  id: string
  slug: string
  /** Of the image: a template is never changed once used. */
  checksum: string
  arch: Arch
  /** Whether guests of it run the agent: decides what "ready" means and whether passwords can be set. */
  hasAgent: boolean
}

/** What a guest learns about itself at its first boot. */
export interface CloudInitData {
  hostname: string
  /** Who gets the keys and the password. */
  user: string
  sshKeys: string[]
  /** crypt(3) hash; null = no password login. */
  passwordHash: string | null
}

export interface NicSpec {
  mac: string
  kind: 'public' | 'private'
  /** Null for the public network. */
  networkId: string | null
  address: string
  prefix: number
  /** Null: the guest gets no route by this interface. */
  gateway: string | null
  dns: string[]
  /** Both directions; null = as fast as the host can. */
  limitMbps: number | null
}

export interface MachineSpec {
  vmId: string
  /** Chosen and stored by us before the first call, so that a lost answer can be looked up. */
  uuid: string
  accountId: string
  /** Grows by one at every rebuild and restore. Each generation has a disk of its own. */
  generation: number
  vcpu: number
  ramMiB: number
  diskGiB: number
  template: TemplateRef
  seed: CloudInitData
  nics: NicSpec[]
}

/** Where the first content of a disk comes from. */
export type DiskSource = { from: 'template' } | { from: 'snapshot'; snapshotId: string } | { from: 'backup'; backupId: string }

export interface NetworkSpec {
  networkId: string
  cidr: string
  /** The host's own address in the network; null only with SNAT and DHCP both off. */
  gateway: string | null
  enableSnat: boolean
  enableDhcp: boolean
}

export type FilterAction = 'ACCEPT' | 'DROP' | 'REJECT'

export interface FilterRule {
  direction: 'IN' | 'OUT'
  action: FilterAction
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
  /** Destination ports, both ends included; empty = all. */
  ports: { from: number; to: number }[]
  /** Addresses or ranges; empty = any. */
  sources: string[]
  destinations: string[]
}

/** First match wins, then the default. Stateful; DHCP and ARP always pass; anti-spoofing is always on and not spelled out here. */
export interface Filter {
  rules: FilterRule[]
  defaultInbound: FilterAction
  defaultOutbound: FilterAction
}

export type Power = 'running' | 'stopped' | 'paused'

/** user: ordered through the driver · guest: from inside · crash: the machine died · host: power or daemon lost. */
export type StopReason = 'user' | 'guest' | 'crash' | 'host'

/** How an order to stop or reboot went: nothing to do, the guest obeyed, or it was cut off after the grace. */
export type StopOutcome = 'already' | 'clean' | 'forced'

/** `reachable`: the agent answered. `booting`: alive, and the image has no agent to say more. */
export type Readiness = 'reachable' | 'booting'

export type ConsoleType = 'serial' | 'vnc'
