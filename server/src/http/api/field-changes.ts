// What a write changed, for the audit log: the fields that its request names, as they were and as they are, as bounded text. Only what reads of the
// resource show is told, so nothing that the API hides, such as a password, is found here.
export interface FieldChange {
  field: string
  /** Null: nothing. Of lists and maps, only the entries that differ. */
  from: string | null
  to: string | null
}

const MOST_FIELDS = 10
const MADE_ANEW = new Set(['id', 'createdAt', 'updatedAt'])
const MOST_CHARACTERS = 400

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `named`: the request's body. A list that is answered as a whole is the one field of `before`, whatever the body says. */
export function fieldChanges(named: unknown, before: unknown, after: unknown): FieldChange[] {
  if (!isFields(before)) return []
  const [only, ...others] = Object.keys(before)
  if (Array.isArray(after)) return only === undefined || others.length > 0 ? [] : changeOf(only, before[only], after)
  if (!isFields(named) || !isFields(after)) return []
  const fields = Object.keys(named).filter((field) => Object.hasOwn(before, field))
  const both = fields.filter((field) => Object.hasOwn(after, field))
  return both
    .flatMap((field) => changeOf(field, before[field], whatFollows(before[field], after[field], named[field])))
    .slice(0, MOST_FIELDS)
}

/** A size that grows afterwards is answered as it still is: what was asked for is what it changes to. */
const whatFollows = (before: unknown, after: unknown, asked: unknown): unknown =>
  typeof asked === 'number' && before === after ? asked : after

function changeOf(field: string, before: unknown, after: unknown): FieldChange[] {
  if (isSame(before, after)) return []
  const [old, young] = [linesOf(before), linesOf(after)]
  const [gone, come] = [old.filter((line) => !young.includes(line)), young.filter((line) => !old.includes(line))]
  const isOrderOnly = gone.length === 0 && come.length === 0
  if (isOrderOnly && String(old) === String(young)) return []
  return [{ field, from: toText(isOrderOnly ? old : gone), to: toText(isOrderOnly ? young : come) }]
}

/** Without JSON for what has none: limits are read as bigint. */
const isSame = (before: unknown, after: unknown): boolean =>
  typeof before === 'bigint' || typeof after === 'bigint' ? before === after : JSON.stringify(before) === JSON.stringify(after)

function linesOf(value: unknown): string[] {
  if (value === null || value === undefined || value === '') return []
  if (Array.isArray(value)) return value.map(inOneLine)
  return isFields(value) ? Object.entries(value).map(([name, each]) => `${name}: ${inOneLine(each)}`) : [inOneLine(value)]
}

/** Ids and times of entries are made anew when a list is replaced, and say nothing to a reader. */
function inOneLine(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'bigint') return String(value)
  if (!isFields(value)) return JSON.stringify(value)
  const said = Object.entries(value).filter(([name, each]) => !MADE_ANEW.has(name) && each !== null)
  return said.map(([name, each]) => `${name} ${typeof each === 'string' ? each : JSON.stringify(each)}`).join(', ')
}

function toText(lines: string[]): string | null {
  const text = lines.join('\n')
  return text === '' ? null : text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…` : text
}

/** What customers call a resource. */
export function nameOf(resource: unknown): string | null {
  if (!isFields(resource)) return null
  const name = [resource['name'], resource['subject'], resource['address'], resource['email']].find((each) => typeof each === 'string')
  return typeof name === 'string' && name !== '' ? name.slice(0, 200).toWellFormed() : null
}
