import { describe, expect, test } from 'vitest'
import { namesOf, suggestHostname } from '../src/screens/create-vm/names.ts'
import { checkUserData } from '../src/screens/create-vm/user-data.ts'
import { flagShapes } from '../src/ui/marks/flag-shapes.ts'
import { osShape } from '../src/ui/marks/os-shapes.ts'
import { runsOf } from '../src/ui/MiniGraph.tsx'

describe('names', () => {
  test('are suggested in words, and none that is taken', () => {
    expect(suggestHostname(new Set())).toMatch(/^[a-z]+-[a-z]+$/)
    const first = suggestHostname(new Set(), () => 0)
    expect(suggestHostname(new Set([first]), () => 0)).toBe(`${first}-2`)
    expect(suggestHostname(new Set([first, `${first}-2`]), () => 0)).toBe(`${first}-3`)
  })

  test('of several VMs are numbered as the API does it', () => {
    expect(namesOf({ hostname: 'web', name: '', count: 1 })).toEqual([{ hostname: 'web', name: 'web' }])
    expect(namesOf({ hostname: 'web', name: '', count: 2 }).map(({ hostname }) => hostname)).toEqual(['web-1', 'web-2'])
    expect(namesOf({ hostname: 'w{n}a', name: 'Web {n}', count: 2 })).toEqual([
      { hostname: 'w1a', name: 'Web 1' },
      { hostname: 'w2a', name: 'Web 2' },
    ])
  })
})

describe('user data', () => {
  const problems = (text: string): string[] => checkUserData(text).problems.map(({ line, code }) => `${line} ${code}`)

  test.each([
    ['', null],
    ['#!/bin/sh\n\techo tab\n', 'script'],
    ['#cloud-config\npackages: [nginx]\n', 'cloud-config'],
    ['## template: jinja\n#cloud-config\n', 'other'],
    ['Content-Type: multipart/mixed; boundary="x"\n', 'other'],
    ['H4sIAAAA', 'other'],
  ] as const)('%j is of the kind %s, without a problem', (text, kind) => {
    expect(checkUserData(text)).toMatchObject({ kind, problems: [] })
  })

  test('is counted in bytes', () => {
    expect(checkUserData('#!ä').bytes).toBe(4)
  })

  test.each([
    ['packages:\n  - nginx\n', ['1 header']],
    ['\n# mine\npackages:\n  - nginx\n', ['2 header']],
    ['hello world', ['1 unknown']],
    ['#cloud-config\npackages:\n\t- nginx\n', ['3 tab']],
    ['#cloud-config\npackages:\n  - nginx\n - git\n', ['4 indent']],
    ['#cloud-config\ntimezone: UTC\n  locale: en\n', ['3 indent']],
    ['#cloud-config\npackage_update:true\n', ['2 colonSpace']],
    ['#cloud-config\nruncmd:\n  -ls\n', ['3 dashSpace']],
    ['#cloud-config\nruncmd: []\npackages: []\nruncmd: []\n', ['4 twice']],
  ])('%j has mistakes that are found', (text, found) => {
    expect(problems(text)).toEqual(found)
  })

  test('that is right has none: lists, blocks of text, brackets and comments', () => {
    const text = `#cloud-config
# the first one
users:
  - default
  - name: ada
    groups: [sudo,
      docker]
    ssh_authorized_keys:
      - ssh-ed25519 AAAA ada@example
write_files:
- path: /etc/motd
  permissions: '0644'
  content: |
    Hello:
    indented as one likes
      - anything
- path: /etc/other
  content: >-
    one
    line
ntp:
  servers:
  - 0.pool.ntp.org
  - 1.pool.ntp.org

runcmd:
  - [ sh, -c, "echo a:b" ]
  - echo "a long
    line"
  - curl -fsS http://localhost:8080/
`
    expect(problems(text)).toEqual([])
  })
})

test('marks of systems and flags exist for what the catalog has, and others get a neutral one', () => {
  const neutral = osShape('something else')
  for (const name of [
    'debian',
    'ubuntu',
    'alpine',
    'almalinux',
    'rocky',
    'fedora',
    'opensuse',
    'arch',
    'freebsd',
    'windows',
    'tiny',
    'imported',
  ])
    expect(osShape(name)).not.toBe(neutral)
  expect(osShape('constructor')).toBe(neutral)
  for (const country of ['DE', 'NL', 'US', 'GB', 'SG', 'JP']) expect(flagShapes(country)!.length).toBeGreaterThan(0)
  expect(flagShapes('XX')).toBeUndefined()
})

test('a line of a small graph has a gap where there is no value', () => {
  expect(runsOf([0, 1, null, 1], 1)).toHaveLength(2)
  expect(runsOf([null, null], 1)).toEqual([])
})
