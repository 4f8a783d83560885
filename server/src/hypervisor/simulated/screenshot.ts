// A small PNG of a text screen: lines of dots whose length follows the machine's name, so that two VMs look different.
import { crc32 } from 'node:zlib'
import { encodePng } from '../png.ts'

const WIDTH = 320
const HEIGHT = 200
const LINE = 10

/** One bit a pixel, black ground; each row starts with filter byte 0. */
function pixels(name: string): Buffer {
  const stride = WIDTH / 8 + 1
  const image = Buffer.alloc(stride * HEIGHT)
  for (let y = 0; y < HEIGHT; y++) {
    const length = crc32(`${name}${Math.floor(y / LINE)}`) % (WIDTH / 8)
    if (y % LINE < 6) image.fill(0b10110110, y * stride + 1, y * stride + 1 + length)
  }
  return image
}

export const drawScreen = (name: string): Buffer => encodePng({ width: WIDTH, height: HEIGHT, bitDepth: 1, color: 'grey' }, pixels(name))
