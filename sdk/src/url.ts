// URLs of calls.
import { PREFIX } from './generated/routes.ts'

export type PathValues = Record<string, string>
export type QueryValues = Record<string, string | number | boolean | undefined>

/** Returns the base URL of the API without a trailing slash. */
export function apiUrl(baseUrl: string): string {
  const parsed = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(`baseUrl must be an http or https URL such as https://cloud.example.com, and is ${JSON.stringify(baseUrl)}`)
  const path = parsed.pathname.replace(/\/+$/, '')
  return `${parsed.origin}${path.endsWith(PREFIX) ? path : `${path}${PREFIX}`}`
}

export function fillPath(template: string, values: PathValues = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value: unknown = values[name]
    // An empty id, "." or ".." would address another path.
    if (typeof value !== 'string' || /^\.*$/.test(value)) throw new TypeError(`${name} must be an id, and is ${JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })
}

export function queryString(values: QueryValues = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text && `?${text}`
}
