import { ApiError, NetworkError, TimeoutError, type FieldError } from '@berth/sdk'
import { commonMessages } from '../words/words.ts'

export const hasCode = (error: unknown, ...codes: string[]): error is ApiError<string> =>
  error instanceof ApiError && codes.includes(error.code as string)

export const isNotFound = (error: unknown): boolean => hasCode(error, 'not_found')

/** Whether the server, or the way to it, is at fault rather than the request. */
export const isServerDown = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.status >= 500 && error.code !== 'no_capacity'
    : error instanceof NetworkError || error instanceof TimeoutError

/** The message of the server as a sentence, or a text for network errors. What inputs show already is not repeated. */
export function errorMessage(error: unknown): string {
  if (error instanceof NetworkError || error instanceof TimeoutError) return commonMessages.unreachable
  if (!(error instanceof ApiError)) return commonMessages.pageError
  if (error.code !== 'validation_failed') return sentence(error.message)
  if (error.fields.length === 0) return sentence(error.message.replace(/^Validation failed: /, ''))
  const others = error.fields.filter(({ field }) => !isShown(error, field))
  if (others.length === 0) return commonMessages.checkFields
  return others.map((each) => sentence(`${fieldName(each.field)} ${withoutName(each)}`)).join(' ')
}

const isShown = (error: ApiError<string>, field: string): boolean =>
  [field, rootOf(field)].some((each) => shownFields.get(error)?.has(each) === true)

/** Fields whose message an input shows. Inputs are rendered before the alert of their form. */
const shownFields = new WeakMap<ApiError<string>, Set<string>>()

/** The validation message of one field, to be shown at its input. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  shownFields.set(error, (shownFields.get(error) ?? new Set()).add(field))
  const found = error.fields.find((each) => each.field === field || rootOf(each.field) === field)
  if (!found) return undefined
  const entry = found.field === field ? NaN : Number(found.field.split('.')[1])
  return sentence(Number.isInteger(entry) ? commonMessages.listEntry(entry + 1, withoutName(found)) : withoutName(found))
}

const rootOf = (field: string): string => field.split('.')[0]!

/** Some messages begin with the name of the field: `amount must be …`. */
const withoutName = ({ field, message }: FieldError): string =>
  message.startsWith(`${field} `) ? message.slice(field.length + 1) : message

const ACRONYMS = /\b(cidr|cpu|dns|id|ids|ip|ips|os|ram|ssh|url|vm|vms)\b/gi

/** `sourceIps.1` → `Source IPs, entry 2,` */
function fieldName(field: string): string {
  const [name = '', entry] = field.split('.')
  const words = name
    .replace(/[A-Z]/g, ' $&')
    .toLowerCase()
    .replace(ACRONYMS, (word) => word.toUpperCase().replace(/S$/, 's'))
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/^\d+$/.test(entry ?? '') ? commonMessages.entry(Number(entry) + 1) : ''}`
}

function sentence(text: string): string {
  const trimmed = text.trim()
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?…]$/.test(trimmed) ? '' : '.'}`
}
