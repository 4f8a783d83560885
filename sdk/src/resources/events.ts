import type { Query } from '../api.ts'
import { streamEvents, type StreamOptions } from '../event-stream.ts'
import type { Event } from '../generated/openapi.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

const MAX_PAGE_SIZE = 100

export class Events extends Resource {
  /** One page after a cursor, oldest first. */
  page(query?: Query<'listEvents'>, options?: CallOptions) {
    return this.api.call('listEvents', { query }, options)
  }

  /** All events after a cursor, up to now. */
  async *list(
    { after, limit = MAX_PAGE_SIZE, ...filter }: Query<'listEvents'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Event, void, undefined> {
    for (let cursor = after; ;) {
      const events = await this.page({ ...filter, after: cursor, limit }, options)
      yield* events
      if (events.length < limit) return
      cursor = events.at(-1)!.cursor
    }
  }

  /** New events as they occur; does not end by itself. */
  stream(options?: StreamOptions): AsyncGenerator<Event, void, undefined> {
    return streamEvents(this.api, options)
  }
}
