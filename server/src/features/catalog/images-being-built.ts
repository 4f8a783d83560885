// The templates whose images this process builds at its first start, while its API already serves.

const slugs = new Set<string>()

export const isBeingBuilt = (slug: string): boolean => slugs.has(slug)

export const noteBuilding = (slug: string): void => void slugs.add(slug)

export const noteBuilt = (slug: string): void => void slugs.delete(slug)
