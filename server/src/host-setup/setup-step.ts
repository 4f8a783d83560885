// A step of preparing a host: check, apply what is missing, check again. A check changes nothing, so it can run at any time.
import type { Cidr } from '../kernel/cidr.ts'

/** What a control plane issues to a host. */
export interface Bundle {
  address: string
  /** PEM. */
  ca: string
  cert: string
  key: string
  /** PEM: what the authority has revoked. */
  crl: string
  /** Common name of the control plane's certificate; libvirtd accepts no other. */
  allowedName: string
  /** A range that no other host uses. */
  range: string
  /** Of the OVN of its region; null: the host has one of its own. */
  chassis: ChassisBundle | null
  /** For migrations between the hosts of its region; null: it is alone. Missing in bundles of older versions. */
  peers?: PeerBundle | null
  /** The control plane adds the host by itself when it is prepared. */
  isEnrolled?: boolean
}

export interface PeerBundle {
  /** Of the other hosts, which libvirtd accepts too. */
  allowedName: string
  /** PEM. What libvirtd presents to theirs. */
  libvirt: { cert: string; key: string }
  /** What the QEMUs of the hosts present to each other. The list of what is revoked is missing in bundles of older versions. */
  qemu: { ca: string; cert: string; key: string; crl?: string }
}

export interface ChassisBundle {
  /** The southbound database lets it change rows of this chassis only. */
  name: string
  /** Addresses of the network controllers. */
  controllers: string[]
  /** PEM. */
  ca: string
  cert: string
  key: string
}

/** What a control plane issues to a machine that shall hold the databases of a region's OVN. */
export interface ControllerBundle {
  address: string
  /** All of them, this one included: one, or three that replace each other. */
  members: string[]
  /** PEM. Of the members and the control plane. */
  ca: string
  /** Of hosts. */
  chassisCa: string
  cert: string
  key: string
}

/** Saved between runs and across reboots. */
export interface HostState {
  range: string
  poolPath: string
  /** The address of its certificate, once other machines connect to it. */
  tlsAddress: string | null
  /** Private ranges that guests may reach nevertheless. */
  allowed: string[]
  /** The OVN that it is a chassis of; null: its own. */
  chassis: Pick<ChassisBundle, 'name' | 'controllers'> | null
}

/** What a network card has, in the words of `ip`. */
export interface Configuration {
  /** Arguments of `ip addr replace`, without the device. */
  addresses: string[]
  /** Arguments of `ip route replace`, the family first, without the device. Those without a next hop first. */
  routes: string[]
}

/** A network card or bond as a port of a bridge, whose own interface has what the card had. */
export interface Uplink extends Configuration {
  nic: string
  /** Of the public network; null: untagged, as the host's own packets are. */
  vlan: number | null
  mac: string
  mtu: number
  /** Whether it had IPv6, and completed checksums. */
  ipv6: boolean
  offloads: boolean
}

export interface HostPlan extends Omit<HostState, 'range'> {
  range: Cidr
  gateway: string
  /** What carries the public network; null: this machine translates the addresses of VMs. */
  uplink: Uplink | null
  /** Addresses of no network card (`lo` and dummies), at which the machine is reached by any of them. */
  loopback: string[]
  bundle: Bundle | null
  systemd: boolean
}

export interface CheckResult {
  ok: boolean
  /** What exists, or what is missing. */
  message: string
}

export interface Step<Plan = HostPlan> {
  name: string
  check(plan: Plan): Promise<CheckResult>
  /** Called only when the check failed. */
  apply(plan: Plan): Promise<void>
}

export interface Outcome {
  step: string
  /** `missing`: a dry run would have applied it. */
  status: 'ok' | 'done' | 'missing' | 'failed'
  message: string
  fix: string | null
}

export const satisfied = (message: string): CheckResult => ({ ok: true, message })
export const missing = (message: string): CheckResult => ({ ok: false, message })

/** A problem that only the operator can fix. */
export class SetupError extends Error {
  readonly fix: string

  constructor(what: string, fix: string) {
    super(what)
    this.fix = fix
  }
}

export async function runStep<Plan>(step: Step<Plan>, plan: Plan, dryRun: boolean): Promise<Outcome> {
  const outcome = (status: Outcome['status'], message: string, fix: string | null = null): Outcome => ({
    step: step.name,
    status,
    message,
    fix,
  })
  try {
    const before = await step.check(plan)
    if (before.ok) return outcome('ok', before.message)
    if (dryRun) return outcome('missing', before.message)
    await step.apply(plan)
    const after = await step.check(plan)
    return after.ok
      ? outcome('done', after.message)
      : outcome('failed', after.message, 'applying the step did not fix it: run it again, and check the system log')
  } catch (error) {
    return outcome('failed', (error as Error).message, error instanceof SetupError ? error.fix : 'run npx berthd doctor')
  }
}

/** `record` returns whether to go on. */
export function recordOutcomes(report: (outcome: Outcome) => void): { outcomes: Outcome[]; record(outcome: Outcome): boolean } {
  const outcomes: Outcome[] = []
  return {
    outcomes,
    record: (outcome) => {
      outcomes.push(outcome)
      report(outcome)
      return outcome.status !== 'failed'
    },
  }
}
