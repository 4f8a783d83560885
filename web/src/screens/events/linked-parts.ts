interface LinkedPart {
  text: string
  to?: string
}

const PLACES: Record<string, (id: string) => string> = {
  vm: (id) => `/vms/${id}`,
  volume: () => '/volumes',
  image: () => '/images',
  address: () => '/addresses',
  alert: () => '/alerts',
  ticket: (id) => `/tickets/${id}`,
  member: () => '/members',
  token: () => '/settings',
  project: () => '/projects',
  webhook: (id) => `/webhooks/${id}`,
}

/** A sentence in parts: those that name a resource of the event's data lead to it. */
export function linkedParts(sentence: string, data: object): LinkedPart[] {
  let parts: LinkedPart[] = [{ text: sentence }]
  for (const [kind, resource] of Object.entries(data)) {
    const place = PLACES[kind]
    const name = place && nameOf(resource)
    if (name)
      parts = parts.flatMap((part) => (part.to === undefined ? split(part.text, name, place((resource as { id: string }).id)) : [part]))
  }
  return parts
}

/** The last place of the name: a short one may be part of a word before it. */
function split(text: string, name: string, to: string): LinkedPart[] {
  const at = text.lastIndexOf(name)
  if (at < 0) return [{ text }]
  return [{ text: text.slice(0, at) }, { text: name, to }, { text: text.slice(at + name.length) }].filter((part) => part.text !== '')
}

function nameOf(resource: unknown): string | null {
  if (typeof resource !== 'object' || resource === null || !('id' in resource)) return null
  const { name, address, subject, email, url } = resource as Record<string, unknown>
  const found = [name, address, subject, email, url].find((each) => typeof each === 'string' && each !== '')
  return typeof found === 'string' ? found : null
}
