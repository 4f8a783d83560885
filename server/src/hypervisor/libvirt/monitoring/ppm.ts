// QEMU before 7.1 writes screenshots as PPM: a short text header, then three bytes per pixel. Browsers need PNG.
import { encodePng } from '../../png.ts'

const HEAD = /^P6\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+255\s/

/** Undefined for other formats. */
export function ppmToPng(ppm: Buffer): Buffer | undefined {
  const [head, width, height] = HEAD.exec(ppm.subarray(0, 200).toString('latin1'))?.map(String) ?? []
  if (head === undefined) return undefined
  const shape = { width: Number(width), height: Number(height) }
  const stride = shape.width * 3
  const rows = Buffer.alloc((stride + 1) * shape.height)
  for (let y = 0; y < shape.height; y++) ppm.copy(rows, y * (stride + 1) + 1, head.length + y * stride, head.length + (y + 1) * stride)
  return encodePng({ ...shape, bitDepth: 8, color: 'rgb' }, rows)
}
