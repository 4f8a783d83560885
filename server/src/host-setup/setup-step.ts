// A step of preparing a host: check, apply what is missing, check again. A check changes nothing, so it can run at any time.
import type { Cidr } from '../kernel/cidr.ts'

/** What a control plane issues to a host. */
export interface Bundle {
  address: string
  /** PEM. */
  ca: string
  cert: string
  key: string
  /** Common name of the control plane's certificate; libvirtd accepts no other. */
  allowedName: string
  /** A range that no other host uses. */
  range: string
}

/** Saved between runs and across reboots. */
export interface HostState {
  range: string
  poolPath: string
  /** The address of its certificate, once other machines connect to it. */
  tlsAddress: string | null
  /** Private ranges that guests may reach nevertheless. */
  allowed: string[]
}

export interface HostPlan extends Omit<HostState, 'range'> {
  range: Cidr
  gateway: string
  bundle: Bundle | null
  systemd: boolean
}

export interface CheckResult {
  ok: boolean
  /** What exists, or what is missing. */
  message: string
}

export interface Step {
  name: string
  check(plan: HostPlan): Promise<CheckResult>
  /** Called only when the check failed. */
  apply(plan: HostPlan): Promise<void>
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

export async function runStep(step: Step, plan: HostPlan, dryRun: boolean): Promise<Outcome> {
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
