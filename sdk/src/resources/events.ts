import type { Query } from '../api.ts'
import { followEvents, type StreamOptions } from '../event-stream.ts'
import type { Event } from '../generated/schemas.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

const LARGEST_PAGE = 100

export class Events extends Resource {
  /** One page after a cursor, the oldest first. */
  page(query?: Query<'listEvents'>, options?: CallOptions) {
    return this.api.call('listEvents', { query }, options)
  }

  /** Everything that has happened after a cursor, up to now. */
  async *list({ after, limit = LARGEST_PAGE }: Query<'listEvents'> = {}, options?: CallOptions): AsyncGenerator<Event, void, undefined> {
    for (let cursor = after; ;) {
      const events = await this.page({ after: cursor, limit }, options)
      yield* events
      if (events.length < limit) return
      cursor = events.at(-1)!.cursor
    }
  }

  /** Everything as it happens, without an end. */
  stream(options?: StreamOptions): AsyncGenerator<Event, void, undefined> {
    return followEvents(this.api, options)
  }
}
