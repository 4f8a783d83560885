// Lists that span several pages.
import type { Pagination } from './generated/openapi.ts'

const MAX_PAGE_SIZE = 100

export interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
  cursor?: string | undefined
  [filter: string]: string | number | boolean | undefined
}

export interface Page<Item> {
  items: Item[]
  pagination: Pagination
  /** Reads on after the last item; null where there is none. */
  nextCursor: string | null
}

/**
 * Iterates from the requested page to the end: `for await (const vm of berth.vms.list())`. Pages are fetched on demand and by cursor, so that
 * an item that is there all the time is yielded once, whatever is added or deleted meanwhile.
 */
export class Pages<Item extends { id: string }> implements AsyncIterable<Item> {
  readonly #query: PageQuery
  readonly #fetch: (query: PageQuery) => Promise<Page<Item>>

  constructor(query: PageQuery, fetch: (query: PageQuery) => Promise<Page<Item>>) {
    this.#query = query
    this.#fetch = fetch
  }

  /** A single page. Default: the first 20 items. */
  page(query: Pick<PageQuery, 'page' | 'limit' | 'cursor'> = {}): Promise<Page<Item>> {
    return this.#fetch({ ...this.#query, ...query })
  }

  /** All items as an array. */
  async all(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { page, limit = MAX_PAGE_SIZE, ...rest } = this.#query
    let next: PageQuery = { page }
    for (;;) {
      const { items, pagination, nextCursor } = await this.#fetch({ ...rest, limit, ...next })
      yield* items
      // A server that knows no cursors answers without the field.
      if (nextCursor === undefined && pagination.page < pagination.totalPages) next = { page: pagination.page + 1 }
      else if (nextCursor) next = { cursor: nextCursor }
      else return
    }
  }
}
