// A step of preparing a host: it looks, does what is missing, and looks again. Looking changes nothing, so a step can be asked at any
// time, and a host that is ready is left as it is.
import type { HostPlan } from './plan.ts'

export interface Look {
  ok: boolean
  /** What is there, or what is missing. */
  message: string
}

export interface Step {
  name: string
  check(plan: HostPlan): Promise<Look>
  /** Only called when something is missing. */
  apply(plan: HostPlan): Promise<void>
}

export interface Outcome {
  step: string
  /** `missing`: a dry run that would have done it. */
  status: 'ok' | 'done' | 'missing' | 'failed'
  message: string
  fix: string | null
}

export const satisfied = (says: string): Look => ({ ok: true, message: says })
export const missing = (says: string): Look => ({ ok: false, message: says })

/** Something that only the operator can put right. */
export class SetupError extends Error {
  readonly fix: string

  constructor(what: string, fix: string) {
    super(what)
    this.fix = fix
  }
}

export async function runStep(step: Step, plan: HostPlan, dryRun: boolean): Promise<Outcome> {
  const outcome = (status: Outcome['status'], says: string, fix: string | null = null): Outcome => ({
    step: step.name,
    status,
    message: says,
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
      : outcome('failed', after.message, 'it was put right and is not right: run it again, and look at the log of the machine')
  } catch (error) {
    return outcome('failed', (error as Error).message, error instanceof SetupError ? error.fix : 'npx berthd doctor says what is wrong')
  }
}
