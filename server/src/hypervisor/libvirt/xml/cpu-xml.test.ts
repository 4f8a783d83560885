import { expect, test } from 'vitest'
import { element, readXml } from '../core/xml.ts'
import { cpuMap, cpuSetOf, moveCpus, pinXml } from './cpu-xml.ts'

const domain = (cpuset: string | undefined, set: Parameters<typeof pinXml>[0]) =>
  element('domain', {}, element('vcpu', { placement: 'static', cpuset }, 2), ...pinXml(set, 2), element('devices')).xml

test('CPUs of its own are pinned one by one, with the memory of their node; shared ones only limit', () => {
  const own = { cpus: [5, 4], numaNode: 1 }
  const pinned = domain('4-5', own)
  expect(pinned).toContain("<cputune><vcpupin vcpu='0' cpuset='5'/><vcpupin vcpu='1' cpuset='4'/></cputune>")
  expect(pinned).toContain("<numatune><memory mode='preferred' nodeset='1'/></numatune>")
  expect(cpuSetOf(readXml(pinned))).toEqual(own)
  expect(cpuSetOf(readXml(domain('0-3', { cpus: [0, 1, 2, 3], numaNode: null })))).toEqual({ cpus: [0, 1, 2, 3], numaNode: null })
  expect(cpuSetOf(readXml(domain(undefined, null)))).toBe(null)
})

test('a domain that moves has the CPUs of its new host, and nothing of the old one', () => {
  const here = domain('4-5', { cpus: [4, 5], numaNode: 1 })
  const there = { cpus: [8, 9], numaNode: 0 }
  expect(cpuSetOf(readXml(moveCpus(here, there)))).toEqual(there)
  const shared = { cpus: [0, 1], numaNode: null }
  expect(moveCpus(here, shared)).toBe('<domain><vcpu placement=\'static\' cpuset="0-1">2</vcpu><devices/></domain>')
  expect(moveCpus(here, null)).toBe("<domain><vcpu placement='static'>2</vcpu><devices/></domain>")
  expect(cpuSetOf(readXml(moveCpus(domain(undefined, null), there)))).toEqual(there)
})

test('a map has a bit for each CPU', () => {
  expect([...cpuMap([0, 9], 16)]).toEqual([1, 2])
  expect([...cpuMap(null, 10)]).toEqual([255, 3])
  expect([...cpuMap([17], 2)]).toEqual([0, 0, 2])
})
