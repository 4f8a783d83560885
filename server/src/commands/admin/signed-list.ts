// Options that add to a list and remove from it: `--trait gpu --no-trait ssd`.
import { UsageError } from '../errors.ts'

/** Both options fill one list: `+gpu` adds, `-gpu` removes. */
export const addSign =
  (sign: '+' | '-') =>
  (name: string, before: string[] = []): string[] => [...before, sign + name]

export function applySigns(traits: readonly string[], changes: readonly string[]): string[] {
  const after = new Set(traits)
  for (const change of changes) {
    const name = change.slice(1)
    if (change.startsWith('+')) after.add(name)
    else if (!after.delete(name))
      throw new UsageError(`There is no trait ${name} to remove${after.size > 0 ? `, only ${[...after].join(', ')}` : ''}`)
  }
  return [...after]
}
