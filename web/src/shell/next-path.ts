/**
 * The path to go on to after sign-in, if it is one of this site. A browser drops tabs and line breaks, reads backslashes as slashes and
 * resolves dots, so what is compared and returned is what it would make of it.
 */
export function nextPath(value: unknown, origin: string): string | undefined {
  if (typeof value !== 'string' || !value.startsWith('/')) return undefined
  const url = URL.parse(value, origin)
  if (url?.origin !== origin || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}${url.hash}`
}
