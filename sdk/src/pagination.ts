// Lists that span several pages.
import type { Pagination } from './generated/openapi.ts'

const MAX_PAGE_SIZE = 100

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
 * Iterates from the requested page to the end: `for await (const vm of berth.vms.list())`. Pages are fetched on demand. The list may change
 * meanwhile: an item that appears on two pages is yielded once, and when `total` shrinks, which moves later items to earlier pages, iteration
 * goes back by as many pages so that no item is skipped.
 */
export class Pages<Item extends { id: string }> implements AsyncIterable<Item> {
  readonly #query: PageQuery
  readonly #fetch: (query: PageQuery) => Promise<Page<Item>>

  constructor(query: PageQuery, fetch: (query: PageQuery) => Promise<Page<Item>>) {
    this.#query = query
    this.#fetch = fetch
  }

  /** A single page. Default: the first 20 items. */
  page(): Promise<Page<Item>> {
    return this.#fetch(this.#query)
  }

  /** All items as an array. */
  async all(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { page: first = 1, limit = MAX_PAGE_SIZE } = this.#query
    const seen = new Set<string>()
    let knownTotal = 0
    for (let page = first; ;) {
      const { items, pagination } = await this.#fetch({ ...this.#query, page, limit })
      const removed = knownTotal - pagination.total
      knownTotal = pagination.total
      if (removed > 0 && page > first) {
        page = Math.max(first, page - Math.ceil(removed / limit))
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
