// Fetches a file by https or from a path, limits its size and verifies its checksum. The source is always chosen by an operator.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Checksum } from './checksum.ts'

export interface FetchOptions {
  expected: Checksum | null
  maxBytes: number
  /** Bytes so far, and the total when it is known. */
  progress: (bytes: number, total: number | null) => void
  signal: AbortSignal
}

/** As `receive`. */
export async function download(url: string, target: string, options: FetchOptions): Promise<string> {
  const response = await request(url, options.signal)
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  const total = Number.isFinite(length) ? length : null
  return receive(bodyOf(response), total, target, options)
}

/** The bytes of a URL, from whoever decides which addresses may be asked. */
export type Open = (url: string, signal: AbortSignal) => Promise<Readable>

const openByHttps: Open = async (url, signal) => bodyOf(await request(url, signal))

/** Browsers, whose types some programs are checked with, call it otherwise. */
const bodyOf = ({ body }: Response): Readable => Readable.fromWeb(body as ReadableStream)

export async function downloadText(url: string, maxBytes: number, signal: AbortSignal, open = openByHttps): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of (await open(url, signal)) as AsyncIterable<Buffer>) {
    if ((bytes += chunk.length) > maxBytes) throw new Error(`${url} has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const MAX_REDIRECTS = 10

/** Follows redirects by hand: each hop must be https, because one over plain http could name any other file. */
async function request(url: string, signal: AbortSignal): Promise<Response> {
  let next = new URL(url)
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    if (next.protocol !== 'https:') {
      const how = hops === 0 ? `not by ${next.protocol}` : `and ${url} redirects to ${next.href}`
      throw new Error(`Images and their checksums are fetched by https only, ${how}: whoever forwards plain http can replace the file`)
    }
    const response = await fetch(next, { signal, redirect: 'manual' }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new Error(`${next.href} cannot be reached: ${reasonOf(error)}`, { cause: error })
    })
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) {
      if (!response.ok || !response.body) throw new Error(`${next.href} answers ${response.status} ${response.statusText}`.trim())
      return response
    }
    await response.body?.cancel()
    if (!URL.canParse(location, next.href)) throw new Error(`${next.href} redirects to "${location}", which is no URL`)
    next = new URL(location, next)
  }
  throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`)
}

export async function copyFile(path: string, target: string, options: FetchOptions): Promise<string> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  })
  return receive(createReadStream(path), size, target, options)
}

/** Returns the sha256 of the file written to `target`. */
export async function receive(source: Readable, total: number | null, target: string, options: FetchOptions): Promise<string> {
  const tooLarge = (bytes: number): Error => new Error(`The file has more than ${options.maxBytes} bytes (${bytes})`)
  if (total !== null && total > options.maxBytes) {
    source.destroy()
    throw tooLarge(total)
  }
  const sha256 = createHash('sha256')
  const wanted = options.expected && createHash(options.expected.algorithm)
  let bytes = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      sha256.update(chunk)
      wanted?.update(chunk)
      options.progress(bytes, total)
      done(bytes > options.maxBytes ? tooLarge(bytes) : null, chunk)
    },
  })
  const truncated = (): Error => new Error(`The connection ended after ${bytes}${total === null ? '' : ` of ${total}`} bytes. Retry`)
  await pipeline(source, counting, createWriteStream(target), { signal: options.signal }).catch((error: unknown) => {
    throw error instanceof TypeError ? truncated() : error // fetch only reports "terminated"
  })
  if (total !== null && bytes !== total) throw truncated()
  const found = wanted?.digest('hex')
  if (found !== undefined && found !== options.expected!.hex) {
    throw new Error(
      `The file has ${options.expected!.algorithm} ${found} instead of ${options.expected!.hex}: it is damaged, modified or a newer version`,
    )
  }
  return `sha256:${sha256.digest('hex')}`
}

const reasonOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
