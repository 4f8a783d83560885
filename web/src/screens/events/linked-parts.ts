interface LinkedPart {
  /** Where the part begins in the sentence. */
  at: number
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
  let parts: LinkedPart[] = [{ at: 0, text: sentence }]
  for (const [kind, resource] of Object.entries(data)) {
    const place = PLACES[kind]
    const name = place && nameOf(resource)
    if (name) parts = parts.flatMap((part) => (part.to === undefined ? split(part, name, place((resource as { id: string }).id)) : [part]))
  }
  return parts
}

/** The last place of the name: a short one may be part of a word before it. */
function split({ at, text }: LinkedPart, name: string, to: string): LinkedPart[] {
  const begin = text.lastIndexOf(name)
  if (begin < 0) return [{ at, text }]
  const end = begin + name.length
  const parts = [
    { at, text: text.slice(0, begin) },
    { at: at + begin, text: name, to },
    { at: at + end, text: text.slice(end) },
  ]
  return parts.filter((part) => part.text !== '')
}

function nameOf(resource: unknown): string | null {
  if (typeof resource !== 'object' || resource === null || !('id' in resource)) return null
  const { name, address, subject, email, url } = resource as Record<string, unknown>
  const found = [name, address, subject, email, url].find((each) => typeof each === 'string' && each !== '')
  return typeof found === 'string' ? found : null
}
