// Which ids in the database are missing in a set found elsewhere. Paged: PostgreSQL needs tens of megabytes for a statement with a hundred
// thousand ids.
const PAGE = 5_000

export async function* findMissingIds(
  found: ReadonlySet<string>,
  knownAfter: (after: string, limit: number) => Promise<{ id: string }[]>,
): AsyncGenerator<string[]> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const page = await knownAfter(after, PAGE)
    const absent = page.map(({ id }) => id).filter((id) => !found.has(id))
    if (absent.length > 0) yield absent
    after = page.length === PAGE ? page.at(-1)!.id : undefined
  }
}
