import { describe, expect, test } from 'vitest'
import { loadOrder, withoutSignature } from './modules.ts'

const DEPENDENCIES = [
  'kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko',
  'kernel/drivers/char/virtio-rng.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko',
  'kernel/drivers/virtio/virtio_ring.ko: kernel/drivers/virtio/virtio.ko',
  'kernel/drivers/virtio/virtio.ko:',
  '',
].join('\n')

describe('module load order', () => {
  test('puts dependencies first, each once', () => {
    const names = loadOrder(['virtio_pci', 'virtio-rng'], DEPENDENCIES, '').map((path) => path.replace(/.*\//, ''))
    expect(names).toEqual(['virtio.ko', 'virtio_ring.ko', 'virtio_pci.ko', 'virtio-rng.ko'])
  })

  test('treats - and _ alike and omits built-in modules', () => {
    const names = loadOrder(['ext4', 'virtio_rng'], DEPENDENCIES, 'kernel/fs/ext4/ext4.ko\n')
    expect(names.at(-1)).toBe('kernel/drivers/char/virtio-rng.ko')
    expect(names).toHaveLength(3)
  })

  test('throws for an unknown module', () => {
    expect(() => loadOrder(['floppy'], DEPENDENCIES, '')).toThrow('The kernel has no module floppy')
  })
})

describe('withoutSignature', () => {
  const code = Buffer.from('\x7fELF and so on')
  const head = Buffer.alloc(12)
  head.writeUInt32BE(5, 8)

  test('removes the signature', () => {
    const signed = Buffer.concat([code, Buffer.from('12345'), head, Buffer.from('~Module signature appended~\n')])
    expect(withoutSignature(signed)).toEqual(code)
  })

  test('returns an unsigned module unchanged', () => {
    expect(withoutSignature(code)).toEqual(code)
  })
})
