import { describe, expect, test } from 'vitest'
import { isPublicAddress, urlRejectionReason } from './url-policy.ts'

describe('isPublicAddress', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '168.63.129.17',
    '2606:4700::1111',
    '2a00:1450:4001:830::200e',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true))

  test.each([
    ['this network', ['0.0.0.0', '0.1.2.3', '::']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd00:ec2::254', 'fec0::1']],
    [
      'link-local and metadata',
      ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fe80::1%eth0', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
    ],
    ['shared by carriers', ['100.64.0.1', '100.127.255.255']],
    ['multicast and broadcast', ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1']],
    [
      'reserved, for documentation or for tests',
      ['192.0.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '240.0.0.1', '2001:db8::1', '3fff::1', '100::1'],
    ],
    [
      'IPv4 in IPv6',
      [
        '::ffff:127.0.0.1',
        '::ffff:8.8.8.8',
        '::127.0.0.1',
        '::8.8.8.8',
        '2002:7f00:1::',
        '64:ff9b::7f00:1',
        '64:ff9b:1::1',
        '2001:0:4136:e378::1',
      ],
    ],
    ['no address', ['', 'localhost', '10.1', '0x7f.0.0.1', '127.0.0.1 ', '1.1.1.1.1', '[::1]']],
  ])('rejects %s addresses', (_, addresses) => expect(addresses.filter(isPublicAddress)).toEqual([]))
})

describe('urlRejectionReason', () => {
  const strict = { allowPrivate: false, ownNames: ['api.berth.example'] }

  test.each([
    'https://example.com/',
    'https://example.com:8443/a?b=c',
    'https://xn--bcher-kva.example/',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]/',
  ])('accepts %s', (url) => expect(urlRejectionReason(url, strict)).toBeNull())

  test('rejects our own name', () => {
    for (const url of ['https://api.berth.example/', 'https://API.Berth.Example./x'])
      expect(urlRejectionReason(url, strict)).toMatch(/this service itself/)
  })

  test('allows http and private hosts on request, but never credentials or other schemes', () => {
    const loose = { ...strict, allowPrivate: true }
    expect(['http://localhost:3000/', 'https://10.0.0.1/', 'http://[::1]/'].map((url) => urlRejectionReason(url, loose))).toEqual([
      null,
      null,
      null,
    ])
    expect(['http://user@localhost/', 'ftp://localhost/', 'file:///etc/passwd'].map((url) => urlRejectionReason(url, loose))).not.toContain(
      null,
    )
  })
})
