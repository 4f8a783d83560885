// What the guest says of its cloud-init, read by one script through its agent.
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { DriverError, type Initialization, type Machines } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { runScript } from '../domain/guest-script.ts'
import { getRunning } from '../domain/lookup.ts'

/** Between the parts of what it writes. */
const SEPARATOR = '\x1e'

/**
 * Writes whether there is a cloud-init, its status, its result once it has ended, what it says of parts that it could not read, which it does not count as errors, and the last lines of its output.
 * The logs go on from boot to boot, and from VM to VM where an image was made of one: only what this boot has written counts.
 */
export const READ_SCRIPT = `state=found
if [ -e /run/cloud-init/disabled ]; then state=none
elif [ ! -e /run/cloud-init/status.json ]; then
  state=waiting
  command -v cloud-init > /dev/null 2>&1 || state=none
fi
printf '%s\\036' $state
[ $state = found ] || exit 0
head -c 32768 /run/cloud-init/status.json
printf '\\036'
[ -e /run/cloud-init/result.json ] || exit 0
head -c 32768 /run/cloud-init/result.json
printf '\\036'
awk "/ running 'init-local' at /"' { n = 0 }
  /\\[(WARNING|ERROR|CRITICAL)\\]: .*(loading yaml|merging in cloud config|calling handler|Unhandled )/ { line[n++] = $0 }
  END { for (i = n > 5 ? n - 5 : 0; i < n; i++) print line[i] }' /var/log/cloud-init.log 2> /dev/null | head -c 4096 | tr -d '\\036'
printf '\\036'
tail -c 4096 /var/log/cloud-init-output.log 2> /dev/null | tr -d '\\036'`

const Stage = Type.Object({ start: Type.Union([Type.Number(), Type.Null()]), finished: Type.Union([Type.Number(), Type.Null()]) })
const Status = Type.Object({
  v1: Type.Object({ 'init-local': Type.Optional(Stage), 'modules-final': Type.Optional(Stage) }),
})
const Result = Type.Object({ v1: Type.Object({ errors: Type.Array(Type.String(), { maxItems: 1000 }) }) })

export const initializationMethods = (context: HostContext): Pick<Machines, 'readInitialization'> => ({
  readInitialization: async (vmId, signal) => {
    const { domain, metadata } = await getRunning(context, vmId, signal)
    if (!metadata.hasAgent) throw new DriverError('unsupported', `The image of ${vmId} has no agent`)
    const { output } = await runScript(context, domain, READ_SCRIPT, ['sh'], signal, true)
    const read = readAnswer(output)
    if (read) return read
    throw new DriverError('transient', `The guest of ${domain.name} says nothing of its initialization that could be read`)
  },
})

/** Undefined where the guest did not answer in the form of the script. */
export function readAnswer(answer: string): Initialization | undefined {
  const [state, status, result, warnings, output] = answer.split(SEPARATOR)
  if (state === 'none') return { state: 'none', seconds: null, errors: [], output: '' }
  if (state === 'waiting') return RUNNING
  const began = parse(Status, status)
  if (state !== 'found' || !began) return undefined
  if (result === '' && warnings === undefined) return RUNNING
  const ended = parse(Result, result)
  if (!ended || warnings === undefined || output === undefined) return undefined
  const errors = [...ended.v1.errors, ...warnings.split('\n')]
    .map((line) => plain(line).trim().slice(0, MAX_ERROR))
    .filter((line) => line !== '')
  return {
    state: errors.length > 0 ? 'failed' : 'completed',
    seconds: secondsOf(began),
    errors: errors.slice(0, MAX_ERRORS),
    output: plain(output).slice(-MAX_OUTPUT),
  }
}

const RUNNING: Initialization = { state: 'running', seconds: null, errors: [], output: '' }
const MAX_ERRORS = 10
const MAX_ERROR = 500
const MAX_OUTPUT = 4096
/** What takes longer is a clock that was set. */
const MAX_SECONDS = 7 * 86_400

function secondsOf({ v1 }: Static<typeof Status>): number | null {
  const [start, end] = [v1['init-local']?.start ?? null, v1['modules-final']?.finished ?? null]
  if (start === null || end === null || end < start || end - start > MAX_SECONDS) return null
  return Math.round(end - start)
}

function parse<S extends typeof Status | typeof Result>(schema: S, text: string | undefined): Static<S> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return Value.Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Without what a terminal would take for commands. */
const plain = (text: string): string =>
  text
    .replace(/[^\P{Cc}\n\r\t]\[[0-?]*[ -/]*[@-~]/gu, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t]/gu, '')
    .toWellFormed()
