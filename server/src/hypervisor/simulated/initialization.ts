// User data of simulated guests: nothing of it is run. A part with a line `# simulate: fail` fails, and one with `# simulate: hang` never ends.
import type { Initialization, UserDataPart } from '../driver.ts'

export function initialize(parts: UserDataPart[]): Initialization {
  const has = (marker: string) => (part: UserDataPart) => part.text.split('\n').some((line) => line.trim() === `# simulate: ${marker}`)
  if (parts.some(has('hang'))) return { state: 'running', seconds: null, errors: [], output: '' }
  const failed = parts
    .map((part, index) => has('fail')(part) && (part.filename ?? `part-${String(index + 1).padStart(3, '0')}`))
    .filter((name) => name !== false)
  return {
    state: failed.length > 0 ? 'failed' : 'completed',
    seconds: 3,
    errors: failed.map((name) => `${name} failed: it has a line "# simulate: fail"`),
    output: `${parts.length} part(s) of user data\n`,
  }
}
