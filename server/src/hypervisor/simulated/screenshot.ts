// A small PNG of a text screen: lines of dots whose length follows the machine's name, so that two VMs look different.
import { crc32, deflateSync } from 'node:zlib'

const WIDTH = 320
const HEIGHT = 200
const LINE = 10

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

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

export function drawScreen(name: string): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header[8] = 1
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(pixels(name))), chunk('IEND', Buffer.alloc(0))])
}
