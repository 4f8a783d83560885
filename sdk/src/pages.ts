// A list that is longer than one answer.
import type { Pagination } from './generated/schemas.ts'

const LARGEST_PAGE = 100

export interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
  [filter: string]: string | number | boolean | undefined
}

export interface Page<Item> {
  items: Item[]
  pagination: Pagination
}

/**
 * Everything from the page asked for to the end: `for await (const vm of berth.vms.list())`. Nothing is asked for until it is needed. Lists
 * change while they are read: what comes twice is passed on once, and when something has gone, which draws later things forward, the reading
 * steps back so that none of them is passed over.
 */
export class Pages<Item extends { id: string }> implements AsyncIterable<Item> {
  readonly #query: PageQuery
  readonly #fetch: (query: PageQuery) => Promise<Page<Item>>

  constructor(query: PageQuery, fetch: (query: PageQuery) => Promise<Page<Item>>) {
    this.#query = query
    this.#fetch = fetch
  }

  /** One page as the server answers it: the first, of 20, unless asked otherwise. */
  page(): Promise<Page<Item>> {
    return this.#fetch(this.#query)
  }

  /** All of it at once. */
  async all(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { page: first = 1, limit = LARGEST_PAGE } = this.#query
    const seen = new Set<string>()
    let known = 0
    for (let page = first; ;) {
      const { items, pagination } = await this.#fetch({ ...this.#query, page, limit })
      const gone = known - pagination.total
      known = pagination.total
      if (gone > 0 && page > first) {
        page = Math.max(first, page - Math.ceil(gone / limit))
        continue
      }
      for (const item of items) {
        if (!seen.has(item.id)) yield item
        seen.add(item.id)
      }
      if (page >= pagination.totalPages) return
      page++
    }
  }
}
