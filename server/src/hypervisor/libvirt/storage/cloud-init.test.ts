import { describe, expect, test } from 'vitest'
import { someSpec } from '../../simulated/test-fixture.ts'
import { networkConfig, seedImage, userData } from './cloud-init.ts'

const seed = { hostname: 'guest', user: 'root', sshKeys: ['ssh-ed25519 AAAA me'], passwordHash: '$6$salt$hash' }
const settingsOf = (text: string): Record<string, unknown> => JSON.parse(text.replace('#cloud-config\n', '')) as Record<string, unknown>

describe('the seed of a guest', () => {
  test('sets keys and password of the user', () => {
    expect(settingsOf(userData(seed))).toMatchObject({
      users: [{ name: 'root', ssh_authorized_keys: seed.sshKeys, hashed_passwd: seed.passwordHash, lock_passwd: false }],
      ssh_pwauth: true,
      disable_root: false,
    })
    expect(settingsOf(userData({ ...seed, passwordHash: null }))).toMatchObject({ users: [{ lock_passwd: true }], ssh_pwauth: false })
    expect(settingsOf(userData({ ...seed, user: 'debian' }))).toMatchObject({
      users: [{ name: 'debian', groups: ['sudo'] }],
      disable_root: true,
    })
  })

  test('cannot be injected with settings', () => {
    const hostile = 'x"\n\u2028\u0085runcmd: [reboot]\u007f \'}]: {'
    const text = userData({ hostname: hostile, user: hostile, sshKeys: [hostile], passwordHash: hostile })
    const settings = settingsOf(text)
    expect(Object.keys(settings).sort()).toEqual(['chpasswd', 'disable_root', 'hostname', 'ssh_pwauth', 'users'])
    expect(settings['hostname']).toBe(hostile)
    expect(text).toMatch(/^[\n\x20-\x7e]*$/)
  })

  test('has one value a line', () => {
    const lines = userData(seed)
      .split('\n')
      .map((line) => line.trim())
    expect(lines).toContain('"hashed_passwd": "$6$salt$hash"')
    expect(lines).toContain('"ssh-ed25519 AAAA me"')
  })

  describe('with user data', () => {
    const theirs = '#cloud-config\nusers: []\nhostname: other\n--==berth==--\nhashed_passwd: $6$theirs'
    const part = { type: 'text/cloud-config', filename: 'mine.txt', mergeType: 'list(append)+dict()+str()', text: theirs }
    const sections = (text: string): string[] => text.split('\n--==berth==').map((each) => each.trim())
    const bodyOf = (section: string): string => section.slice(section.indexOf('\n\n') + 2)

    test('has that between its own settings, which replace it, or are put before it in lists', () => {
      const [head, first, customers, lists, last, end] = sections(userData({ ...seed, userData: [part] }))
      expect([head, end]).toEqual(['MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="==berth=="', '--'])
      expect(settingsOf(bodyOf(first!))).toEqual({ disable_root: false, ssh_pwauth: true })
      expect(customers).toContain('Content-Type: text/cloud-config; charset="utf-8"\nContent-Disposition: attachment; filename="mine.txt"')
      expect(customers).toContain('\nMerge-Type: list(append)+dict()+str()\nContent-Transfer-Encoding: base64\n')
      expect(Buffer.from(bodyOf(customers!), 'base64').toString()).toBe(theirs)
      expect(lists).toContain('Merge-Type: list(prepend)+dict(recurse_list)+str()')
      expect(settingsOf(bodyOf(lists!))).toMatchObject({
        users: [{ name: 'root', ssh_authorized_keys: seed.sshKeys }],
        chpasswd: { expire: false, users: [{ name: 'root', password: seed.passwordHash }] },
      })
      expect(settingsOf(bodyOf(last!))).toEqual({ hostname: 'guest', disable_root: false, ssh_pwauth: true })
    })

    test('leaves to that what only a password or the user root decides', () => {
      const [, , , lists, last] = sections(userData({ ...seed, user: 'debian', passwordHash: null, userData: [part] }))
      expect(Object.keys(settingsOf(bodyOf(lists!)))).toEqual(['users'])
      expect(settingsOf(bodyOf(last!))).toEqual({ hostname: 'guest' })
    })

    test('has no line of it as it was given, so that it can neither end its part nor be taken for a setting', () => {
      const text = userData({ ...seed, userData: [part, { ...part, text: '#!/bin/sh\n\u{1f600}\n' }] })
      const lines = text.split('\n')
      for (const line of ['users: []', 'hostname: other', 'hashed_passwd: $6$theirs', '#!/bin/sh']) expect(lines).not.toContain(line)
      expect(lines.filter((line) => line === '--==berth==--')).toHaveLength(1)
      expect(text).toMatch(/^[\n\x20-\x7e]*$/)
    })
  })

  test('configures interfaces by MAC, with a default route over the public one alone', () => {
    const [nic] = someSpec().nics
    const own = {
      ...nic!,
      mac: '52:54:00:AA:00:01',
      kind: 'private' as const,
      ipv4: { address: '10.5.0.9', prefix: 24, gateway: null },
      dns: [],
    }
    expect(JSON.parse(networkConfig([nic!, own]))).toEqual({
      version: 2,
      ethernets: {
        berth0: {
          match: { macaddress: nic!.mac },
          addresses: [`${nic!.ipv4!.address}/16`],
          'accept-ra': false,
          routes: [{ to: '0.0.0.0/0', via: '10.77.0.1' }],
          nameservers: { addresses: ['10.77.0.1'] },
        },
        berth1: { match: { macaddress: '52:54:00:aa:00:01' }, addresses: ['10.5.0.9/24'], 'accept-ra': false },
      },
    })
  })

  test('configures IPv6 with or without IPv4, and takes no address from routers', () => {
    const [nic] = someSpec().nics
    const ipv6 = { address: '2001:db8:0:7::1', prefix: 48, gateway: '2001:db8::1' }
    const { ethernets } = JSON.parse(
      networkConfig([
        { ...nic!, ipv6 },
        { ...nic!, ipv4: null, ipv6 },
      ]),
    ) as { ethernets: object }
    const own = { addresses: ['2001:db8:0:7::1/48'], routes: [{ to: '::/0', via: '2001:db8::1' }] }
    expect(ethernets).toMatchObject({
      berth0: {
        addresses: [`${nic!.ipv4!.address}/16`, ...own.addresses],
        routes: [{ to: '0.0.0.0/0', via: '10.77.0.1' }, ...own.routes],
        'accept-ra': false,
      },
      berth1: { ...own, 'accept-ra': false },
    })
  })

  test('keeps the instance id over generations, so that a restored guest is not configured again', () => {
    const spec = someSpec()
    expect(seedImage({ ...spec, generation: 2 })).toEqual(seedImage(spec))
  })
})
