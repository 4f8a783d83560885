// A logo comes from an operator and is shown to everybody: an SVG or a PNG, told apart by its bytes. An SVG is shown by <img> alone, which runs none of
// its scripts, and whoever opens its address gets it in a sandbox; one that has scripts is refused besides.
import { isUtf8 } from 'node:buffer'
import { invalid } from '../../kernel/errors.ts'
import { LARGEST_IMAGE } from './schema.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const LARGEST_SIDE = 2_048
const ACTIVE = /<(?:\w+:)?(?:script|foreignobject|iframe)\b|\son[a-z]+\s*=|javascript:|<!entity/i

export interface CheckedImage {
  bytes: Buffer
  type: 'image/png' | 'image/svg+xml'
}

export function checkImage(base64: string): CheckedImage {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > LARGEST_IMAGE) throw invalid('the file may have 128 KiB at most', 'data')
  if (bytes.subarray(0, PNG.length).equals(PNG)) return checkPng(bytes)
  return checkSvg(bytes)
}

function checkPng(bytes: Buffer): CheckedImage {
  if (bytes.length < 33 || bytes.toString('latin1', 12, 16) !== 'IHDR') throw invalid('the PNG file is damaged', 'data')
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  if (Math.min(width, height) < 1 || Math.max(width, height) > LARGEST_SIDE)
    throw invalid(`the picture has ${width} × ${height} pixels, and may have ${LARGEST_SIDE} × ${LARGEST_SIDE} at most`, 'data')
  return { bytes, type: 'image/png' }
}

function checkSvg(bytes: Buffer): CheckedImage {
  const text = isUtf8(bytes) ? bytes.toString() : ''
  if (!/^\uFEFF?\s*(<\?xml[^>]*>\s*|<!--[^]*?-->\s*|<!doctype[^>[]*>\s*)*<svg[\s>]/i.test(text))
    throw invalid('the file is neither an SVG in UTF-8 nor a PNG', 'data')
  const found = ACTIVE.exec(text)
  if (found) throw invalid(`the SVG must not contain ${JSON.stringify(found[0].trim())}: save it without scripts`, 'data')
  return { bytes, type: 'image/svg+xml' }
}
