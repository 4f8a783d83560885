// What differs between the rules in force and a draft of them. A rule keeps its key while it is edited.
import { isSameRule, type Rule } from './rule.ts'

export type Change =
  | { kind: 'added'; rule: Rule; position: number }
  | { kind: 'removed'; rule: Rule; position: number }
  | { kind: 'changed'; rule: Rule; before: Rule; position: number }
  | { kind: 'moved'; rule: Rule; position: number; from: number }

/** In the order of the draft; what is removed comes first. A rule that was changed and moved is both. */
export function diffRules(before: readonly Rule[], after: readonly Rule[]): Change[] {
  const old = new Map(before.map((rule, index) => [rule.key, { rule, index }]))
  const kept = new Set(after.map(({ key }) => key))
  const staying = longestIncreasing(after.flatMap(({ key }) => old.get(key)?.index ?? []))
  const removed = before.flatMap((rule, index): Change[] => (kept.has(rule.key) ? [] : [{ kind: 'removed', rule, position: index + 1 }]))
  const others = after.flatMap((rule, index): Change[] => {
    const was = old.get(rule.key)
    const position = index + 1
    if (!was) return [{ kind: 'added', rule, position }]
    const changes: Change[] = []
    if (!isSameRule(was.rule, rule)) changes.push({ kind: 'changed', rule, before: was.rule, position })
    if (!staying.has(was.index)) changes.push({ kind: 'moved', rule, position, from: was.index + 1 })
    return changes
  })
  return [...removed, ...others]
}

/** Rules that replaced others have new ids: one that says the same as one before gets its key. */
export function withKeysOf(before: readonly Rule[], after: readonly Rule[]): Rule[] {
  const keys = new Set(after.map(({ key }) => key))
  const left = before.filter(({ key }) => !keys.has(key))
  const known = new Set(before.map(({ key }) => key))
  return after.map((rule) => {
    const index = known.has(rule.key) ? -1 : left.findIndex((each) => isSameRule(each, rule))
    return index < 0 ? rule : { ...rule, key: left.splice(index, 1)[0]!.key }
  })
}

/** The most numbers that are in order already: all others have moved. */
function longestIncreasing(numbers: number[]): Set<number> {
  const lengths: number[] = []
  const previous: number[] = []
  for (const [index, number] of numbers.entries()) {
    lengths[index] = 1
    previous[index] = -1
    for (let each = 0; each < index; each++)
      if (numbers[each]! < number && lengths[each]! + 1 > lengths[index]!) {
        lengths[index] = lengths[each]! + 1
        previous[index] = each
      }
  }
  const kept = new Set<number>()
  for (let index = lengths.indexOf(Math.max(0, ...lengths)); index >= 0; index = previous[index]!) kept.add(numbers[index]!)
  return kept
}
