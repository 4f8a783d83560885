// What `host prepare` and `network-controller prepare` read and print.
import type { Bundle, ControllerBundle, Outcome } from '../../host-setup/setup-step.ts'
import { isJson, type OutputOptions } from '../admin-command.ts'
import { markOf, print, showLine, toJson } from '../output.ts'

interface Bundles {
  host: Bundle
  controller: ControllerBundle
}

/** Both modules are loaded on demand. */
export async function loadBundle<Kind extends keyof Bundles>(file: string, kind: Kind): Promise<Bundles[Kind]> {
  const [{ readBundle, readControllerBundle }, { SetupError }] = await Promise.all([
    import('../../host-setup/bundle.ts'),
    import('../../host-setup/setup-step.ts'),
  ])
  const reading: Promise<Bundle | ControllerBundle> = kind === 'host' ? readBundle(file) : readControllerBundle(file)
  return reading.catch((error: unknown) => {
    throw error instanceof SetupError ? new Error(`${error.message}\n${error.fix}`) : error
  }) as Promise<Bundles[Kind]>
}

const NOTES = { ok: '', done: 'done', missing: 'missing', failed: '' }

interface Prepared {
  ok: boolean
  outcomes: Outcome[]
  /** The command that comes next. */
  next: string | null
}

/** A line per step, or JSON at the end. Returns the exit code. */
export async function reportOutcomes(
  output: OutputOptions,
  prepare: (report: (outcome: Outcome) => void) => Promise<Prepared>,
): Promise<number> {
  const json = isJson(output)
  const printOutcome = ({ status, message, fix }: Outcome): void => {
    showLine(markOf(status), message, NOTES[status])
    if (fix) print(`     ${fix}`)
  }
  const { outcomes, ...rest } = await prepare(json ? () => {} : printOutcome)
  if (json) print(toJson({ ...rest, steps: outcomes }))
  else if (rest.next) print(`\nThis host is ready. Add it on the control plane:\n  ${rest.next}`)
  return rest.ok ? 0 : 1
}
