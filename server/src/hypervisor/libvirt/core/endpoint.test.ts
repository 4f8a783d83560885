import { expect, test } from 'vitest'
import { directAccess } from '../../local-access.ts'
import { endpointOf } from './endpoint.ts'

test.each([
  ['qemu:///system', '/run/libvirt/libvirt-sock'],
  ['qemu+unix:///system?socket=/tmp/other', '/tmp/other'],
  ['qemu+tls://10.0.0.5/system', '10.0.0.5'],
  ['qemu+tls://host.example:1234/system', 'host.example:1234'],
])('%s is reached at %s', (uri, description) => {
  expect(endpointOf(uri, directAccess()).description).toBe(description)
})

test.each(['', 'qemu:///session', 'qemu+ssh://host/system', 'qemu+tls:///system', 'test:///default', 'http://host/system'])(
  '%j is refused',
  (uri) => {
    expect(() => endpointOf(uri, directAccess())).toThrow('is no address of a libvirt host')
  },
)

test('a TLS connection needs certificates, which are read at connect', async () => {
  await expect(endpointOf('qemu+tls://127.0.0.1/system', directAccess()).connect(1000)).rejects.toThrow('has no certificates yet')
})
