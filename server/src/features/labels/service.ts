// Labels are a jsonb column of each resource that has them. A selector becomes conditions on that column: few texts of statements, with what the
// customer wrote as parameters.
import { json, sql, type Sql } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { LABEL_KEY, LABEL_VALUE } from './schema.ts'

export type Labels = Record<string, string>

/** All of it holds. */
interface Selector {
  equals: Labels
  /** Each key has one of these values. */
  oneOf: Record<string, string[]>
  /** No label is one of these pairs. */
  noneOf: Labels[]
  present: string[]
  absent: string[]
}

const MAX_REQUIREMENTS = 20
const REQUIREMENT = new RegExp(
  `^(?:(?<absent>!\\s*)?(?<key>${LABEL_KEY})|(?<of>${LABEL_KEY})\\s*(?:(?<operator>==?|!=)\\s*(?<value>${LABEL_VALUE})|\\s(?<set>in|notin)\\s*\\((?<values>[^()]*)\\)))$`,
)
const VALUE = new RegExp(`^${LABEL_VALUE}$`)

/** Throws what a person can mend. */
export function parseSelector(text: string): Selector {
  const selector: Selector = { equals: {}, oneOf: {}, noneOf: [], present: [], absent: [] }
  const requirements = text.split(/,(?![^()]*\))/)
  if (requirements.length > MAX_REQUIREMENTS)
    throw invalid(`labelSelector must have at most ${MAX_REQUIREMENTS} conditions`, 'labelSelector')
  for (const requirement of requirements) addTo(selector, requirement.trim())
  return selector
}

function addTo(selector: Selector, requirement: string): void {
  const { absent, key, of, operator, value, set, values } = REQUIREMENT.exec(requirement)?.groups ?? {}
  if (key !== undefined) return void selector[absent === undefined ? 'present' : 'absent'].push(key)
  if (of === undefined) throw wrong(requirement)
  if (operator === '!=') return void selector.noneOf.push({ [of]: value! })
  if (operator !== undefined && !Object.hasOwn(selector.equals, of)) return void (selector.equals[of] = value!)
  const wanted = values === undefined ? [value!] : values.split(',').map((each) => each.trim())
  if (!wanted.every((each) => VALUE.test(each))) throw wrong(requirement)
  if (set === 'notin') return void selector.noneOf.push(...wanted.map((each) => ({ [of]: each })))
  const before = Object.hasOwn(selector.oneOf, of) ? selector.oneOf[of]! : wanted
  selector.oneOf[of] = wanted.filter((each) => before.includes(each))
}

const wrong = (requirement: string) =>
  invalid(
    `labelSelector: "${requirement}" is not understood. Write conditions such as env=prod, env!=prod, env in (prod,test), env notin (prod,test), env or !env, separated by commas`,
    'labelSelector',
  )

/** `selector`: a `Selector` as jsonb. What it has in `equals` is compared by the caller, where an index may serve that. */
export const meetsRest = (labels: Sql, selector: Sql): Sql => sql`
  ${labels} ?& array(select jsonb_array_elements_text(${selector} -> 'present'))
  and not ${labels} ?| array(select jsonb_array_elements_text(${selector} -> 'absent'))
  and not exists (select from jsonb_array_elements(${selector} -> 'noneOf') pair where ${labels} @> pair.value)
  and not exists (select from jsonb_each(${selector} -> 'oneOf') wanted where (wanted.value ? (${labels} ->> wanted.key)) is not true)`

/** Begins with `and`; empty without a selector. */
export const selectedBy = (labels: Sql, text: string | undefined): Sql => (text === undefined ? sql`` : sql`and ${meets(labels, text)}`)

export function meets(labels: Sql, text: string): Sql {
  const selector = parseSelector(text)
  const rest = meetsRest(labels, sql`${json(selector)}::jsonb`)
  return Object.keys(selector.equals).length > 0 ? sql`${labels} @> ${json(selector.equals)}::jsonb and ${rest}` : rest
}
