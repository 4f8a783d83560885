// Serves the dashboard at every path without a route: a file of the folder, or index.html for a browser that accepts HTML (client-side
// routing). Cached in memory, compressed once, not rate limited.
import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { page } from './html-page.ts'
import { ASSETS } from './kept-assets.ts'
import { dress, type Skin } from './skin.ts'

export interface Pages {
  /** False when the path is not the dashboard's. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean>
}

/** Paths of programs never return a page. */
const NOT_PAGES = /^\/(api|branding|consoles|docs|healthz|metrics|readyz)(\/|$)/

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}
const IS_TEXT = /text|json|svg/

interface File {
  changedMs: number
  type: string
  etag: string
  bytes: Buffer
  gzipped: Buffer | null
}

interface SiteOptions {
  /** The WebSocket origin allowed besides the page's own. */
  publicUrl: string | null
  /** Assets of other versions. */
  kept: (path: string) => Promise<Buffer | null>
  /** The same object until it changes. */
  skin: () => Promise<Skin>
}

export function createStaticSite(folder: string, { publicUrl, kept, skin }: SiteOptions): Pages {
  const read = filesOf(folder)
  const others = othersOf(kept)
  const dressed = dresser()
  const headers = { ...SAFE, 'content-security-policy': policy(publicUrl) }
  return {
    async answer(request, reply) {
      const path = pathOf(request)
      if (path === null || NOT_PAGES.test(path)) return false
      const isAsset = path.startsWith(ASSETS)
      const file = path === '/' ? null : ((await read(path)) ?? (isAsset ? await others(path) : null))
      if (!file && path !== '/' && !/\btext\/html\b/.test(request.headers.accept ?? '')) return false
      const index = file ? null : await read('/index.html')
      const shown = file ?? (index && (await dressed(index, await skin())))
      if (shown) await send(request, reply.headers(headers), shown, isAsset && file !== null)
      else await page(reply.code(503), 'Berth', NOT_BUILT)
      return true
    },
  }
}

const NOT_BUILT = `<h1>Berth is running</h1>
<p>Its dashboard is not built yet: run <code>npm start</code> in the project, or <code>npm run build --workspace web</code>.</p>
<p>The API works: see <a href="/docs">/docs</a>.</p>`

function pathOf({ method, url }: FastifyRequest): string | null {
  const path = url.split('?')[0]!
  return method === 'GET' || method === 'HEAD' ? decodeURIComponent(path) : null // invalid encoding was escaped by readableUrl
}

/** The dashboard's page as an operator has made it. */
function dresser(): (index: File, skin: Skin) => Promise<File> {
  let last: { index: File; skin: Skin; page: Promise<File> } | undefined
  return (index, skin) => {
    if (last?.index !== index || last.skin !== skin) {
      const page = toFile('index.html', Buffer.from(dress(index.bytes.toString(), skin)), index.changedMs)
      last = { index, skin, page }
    }
    return last.page
  }
}

function filesOf(folder: string): (path: string) => Promise<File | null> {
  const known = new Map<string, File>()
  return async (path) => {
    const name = join(folder, path)
    if (path.includes('\0') || !name.startsWith(`${folder}${sep}`)) return null
    const found = await stat(name).catch(() => null) // any error means that there is no such file
    if (!found?.isFile()) return null
    const before = known.get(name)
    if (before?.changedMs === found.mtimeMs) return before
    const file = await load(name, found.mtimeMs)
    known.set(name, file)
    return file
  }
}

/** As few as versions have files: `kept` knows no other names. */
function othersOf(kept: (path: string) => Promise<Buffer | null>): (path: string) => Promise<File | null> {
  const known = new Map<string, File>()
  return async (path) => {
    const before = known.get(path)
    if (before) return before
    const bytes = await kept(path).catch(() => null) // without the database there are its own
    if (!bytes) return null
    const file = await toFile(path, bytes, 0)
    known.set(path, file)
    return file
  }
}

const load = async (name: string, changedMs: number): Promise<File> => toFile(name, await readFile(name), changedMs)

async function toFile(name: string, bytes: Buffer, changedMs: number): Promise<File> {
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  const gzipped = IS_TEXT.test(type) ? await promisify(gzip)(bytes, { level: 9 }) : null
  return { changedMs, type, etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`, bytes, gzipped }
}

/** A file with a hash in its name never changes. */
async function send(request: FastifyRequest, reply: FastifyReply, file: File, isForever: boolean): Promise<void> {
  reply.type(file.type).header('etag', file.etag).header('vary', 'accept-encoding')
  reply.header('cache-control', isForever ? 'public, max-age=31536000, immutable' : 'no-cache')
  if (isFresh(request.headers['if-none-match'], file.etag)) return void (await reply.code(304).send())
  const zip = file.gzipped !== null && /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')
  if (zip) reply.header('content-encoding', 'gzip')
  await reply.send(zip ? file.gzipped : file.bytes)
}

/** RFC 9110: a list of ETags compared weakly, because compressing proxies weaken them; or `*`. */
const isFresh = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false

const SAFE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The terminal creates inline styles; scripts come from our files only. */
function policy(publicUrl: string | null): string {
  const sockets = publicUrl && URL.parse(publicUrl) ? ` ${new URL(publicUrl).origin.replace(/^http/, 'ws')}` : ''
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    `connect-src 'self'${sockets}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
