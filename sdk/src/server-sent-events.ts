// Reads the frames of a server-sent stream (https://html.spec.whatwg.org/multipage/server-sent-events.html) without the parts an API does not need.

export interface Frame {
  /** The last id received, in this frame or an earlier one. */
  id: string | null
  data: string | null
  retryMs: number | null
}

/** Ends with the stream, when the signal aborts, and when nothing arrived for `idleTimeoutMs`. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  { idleTimeoutMs, signal }: { idleTimeoutMs: number; signal?: AbortSignal | undefined },
): AsyncGenerator<Frame, void, undefined> {
  const parser = frameParser()
  for await (const text of readText(body, idleTimeoutMs, signal)) yield* parser(text)
}

async function* readText(body: ReadableStream<Uint8Array>, idleTimeoutMs: number, signal?: AbortSignal): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const stop = (): void => void reader.cancel().catch(() => {}) // the connection is abandoned, so errors of closing it are ignored
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const timer = setTimeout(stop, idleTimeoutMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** Takes text in chunks of any size and returns the frames that it completes. */
export function frameParser(): (text: string) => Frame[] {
  let rest = ''
  let id: string | null = null
  let data: string[] = []
  let retryMs: number | null = null

  const field = (line: string): void => {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'data') data.push(value)
    if (name === 'id' && !value.includes('\0')) id = value
    if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
  }
  const frame = (): Frame => {
    const complete = { id, data: data.length > 0 ? data.join('\n') : null, retryMs }
    data = []
    retryMs = null
    return complete
  }
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/) // a \r at the very end may be half of a \r\n
    rest = lines.pop()!
    const frames: Frame[] = []
    for (const line of lines) {
      if (line === '') frames.push(frame())
      else field(line)
    }
    return frames
  }
}
