// Checksums as distributors publish them beside their images: lines of sha256sum and sha512sum, of BSD's tools, clear-signed or not, or one
// digest alone.
import { basename } from 'node:path'
import { parseChecksum, type Checksum } from './checksum.ts'
import { downloadText, type Open } from './fetch.ts'

const MAX_BYTES = 1024 ** 2

/** Both URLs are of https at every hop, unless `open` decides otherwise. Throws when the file does not name the image. */
export async function fetchPublishedChecksum(url: string, imageUrl: string, signal: AbortSignal, open?: Open): Promise<Checksum> {
  const [text, image] = [await downloadText(url, MAX_BYTES, signal, open), nameOf(imageUrl)]
  const found = findChecksum(text, image, nameOf(url).startsWith(image))
  if (!found) throw new Error(`${url} has no sha256 or sha512 of ${image}. Give its checksum`)
  return found
}

const nameOf = (url: string): string => decodeURIComponent(basename(new URL(url).pathname))

/** The strongest one of the image. A file that is named after the image may call it otherwise, such as by its date. */
export function findChecksum(text: string, image: string, isOfImage: boolean): Checksum | undefined {
  const entries = text.split(/\r?\n/).flatMap(parseLine)
  const named = entries.filter(({ name }) => name === image)
  const meant = named.length > 0 || !isOfImage || new Set(entries.map(({ name }) => name)).size > 1 ? named : entries
  return meant.map(({ hex }) => parseChecksum(hex)).sort((a, b) => b.hex.length - a.hex.length)[0]
}

const HEX = '([0-9a-fA-F]{64}|[0-9a-fA-F]{128})'
const GNU = new RegExp(`^${HEX}(?:\\s+[ *]?(?:\\./)?(\\S+))?\\s*$`)
const BSD = new RegExp(`^SHA(?:256|512) \\((?:\\./)?(\\S+)\\) = ${HEX}\\s*$`)

function parseLine(line: string): { hex: string; name: string }[] {
  const [, hex, name = ''] = GNU.exec(line) ?? []
  if (hex) return [{ hex, name }]
  const [, file, digest] = BSD.exec(line) ?? []
  return file && digest ? [{ hex: digest, name: file }] : []
}
