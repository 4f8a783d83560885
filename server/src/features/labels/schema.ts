import { Type } from '../../http/api/schema.ts'

const MAX_LABELS = 64
export const LABEL_KEY = '[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?'
export const LABEL_VALUE = '[A-Za-z0-9._/:@+-]{0,63}'

export const Labels = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: MAX_LABELS,
  propertyNames: {
    type: 'string',
    pattern: `^${LABEL_KEY}$`,
    rule: 'must have keys of 1-63 letters, digits, ".", "_", "/" and "-" that begin and end with a letter or digit',
  },
  additionalProperties: {
    type: 'string',
    pattern: `^${LABEL_VALUE}$`,
    rule: 'must be 0-63 letters, digits, ".", "_", "/", ":", "@", "+" and "-"',
  },
  rule: `must be an object of at most ${MAX_LABELS} labels`,
  description: `At most ${MAX_LABELS}, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were`,
})

export const ShownLabels = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } })

export const SELECTOR_WORDS =
  'separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not)'

export const LabelSelector = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: `Only with labels that meet all of these, ${SELECTOR_WORDS}`,
})

/** In the query of a list. */
export const labelQuery = { labelSelector: Type.Optional(LabelSelector) }
