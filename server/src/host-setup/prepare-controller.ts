// Turns a Debian or Ubuntu machine into a network controller. Idempotent; it may be a host too.
import { controllerPackages } from './packages.ts'
import { controllerCertificate, controllerDaemons, memberPorts, planController, type ControllerPlan } from './network-controller.ts'
import { recordOutcomes, runStep, SetupError, type ControllerBundle, type Outcome, type Step } from './setup-step.ts'
import { hasSystemd } from './shell.ts'

const STEPS: Step<ControllerPlan>[] = [controllerCertificate, memberPorts, controllerDaemons]

export interface PrepareControllerOptions {
  bundle?: ControllerBundle | undefined
  dryRun?: boolean
}

/** Stops at the first step that fails. Calls `report` for every step. */
export async function prepareController(
  { bundle, dryRun = false }: PrepareControllerOptions,
  report: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const { outcomes, record } = recordOutcomes(report)
  const fail = (step: string, message: string, fix: string): Outcome[] => {
    record({ step, status: 'failed', message, fix })
    return outcomes
  }
  if (process.getuid?.() !== 0) return fail('root', 'Preparing a network controller needs root', 'run it with sudo')
  if (!record(await runStep(controllerPackages, {}, dryRun))) return outcomes
  try {
    const plan = await planController(bundle ?? null, await hasSystemd())
    for (const step of STEPS) if (!record(await runStep(step, plan, dryRun))) break
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return fail('plan', error.message, error.fix)
  }
  return outcomes
}
