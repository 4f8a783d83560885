import { expect, test } from 'vitest'
import { roomFor } from '../../room.ts'
import { someSpec } from '../../simulated/test-fixture.ts'
import { element, readXml, type Xml } from '../core/xml.ts'
import { moveCpus } from './cpu-xml.ts'
import { dimmsOf, dimmXml, nodeXml, roomOf, sizeOf, sizeXml } from './size-xml.ts'

const domain = (...children: (Xml | Xml[] | false)[]) => element('domain', {}, ...children).xml

test('a domain has its size, and room for more where there is some', () => {
  const spec = someSpec({ vcpu: 2, ramMiB: 4096, cpus: { cpus: [4, 5, 7], numaNode: null } })
  const xml = domain(sizeXml(spec, { vcpu: 8, ramMiB: 16_384 }), element('cpu', {}, nodeXml(spec, { vcpu: 8, ramMiB: 16_384 })))
  expect(xml).toBe(
    "<domain><maxMemory slots='16' unit='MiB'>16384</maxMemory><memory unit='MiB'>4096</memory>" +
      "<vcpu placement='static' cpuset='4-5,7' current='2'>8</vcpu>" +
      "<cpu><numa><cell id='0' cpus='0-7' memory='4096' unit='MiB'/></numa></cpu></domain>",
  )
  const own = { vcpu: 2, ramMiB: 4096 }
  expect(domain(sizeXml({ ...spec, cpus: null }, own), nodeXml(spec, own))).toBe(
    "<domain><memory unit='MiB'>4096</memory><vcpu placement='static'>2</vcpu></domain>",
  )
})

test('what libvirt says of a domain is its size with what was added, and its room', () => {
  const live = readXml(`<domain><maxMemory slots='16' unit='KiB'>16777216</maxMemory><memory unit='KiB'>5242880</memory>
    <vcpu placement='static' current='3'>8</vcpu><vcpus><vcpu id='0' enabled='yes'/></vcpus>
    <devices>${dimmXml(1024, 0).xml.replace("unit='MiB'>1024", "unit='KiB'>1048576")}</devices></domain>`)
  expect([sizeOf(live), roomOf(live), dimmsOf(live)]).toEqual([
    { vcpu: 3, ramMiB: 5120 },
    { vcpu: 8, ramMiB: 16_384 },
    [{ alias: 'ua-ram-0', ramMiB: 1024 }],
  ])
  const old = readXml(`<domain><memory unit='KiB'>1048576</memory><vcpu placement='static'>2</vcpu></domain>`)
  expect([sizeOf(old), roomOf(old), dimmsOf(old)]).toEqual([{ vcpu: 2, ramMiB: 1024 }, { vcpu: 2, ramMiB: 1024 }, []])
})

test('a domain that moves keeps its room, and its vCPUs get the CPUs they have there', () => {
  const spec = someSpec({ vcpu: 2, cpus: { cpus: [4, 5], numaNode: 1 } })
  const moved = moveCpus(domain(sizeXml(spec, { vcpu: 8, ramMiB: 1024 })), { cpus: [0, 1], numaNode: 0 })
  expect(roomOf(readXml(moved)).vcpu).toBe(8)
  expect(sizeOf(readXml(moved)).vcpu).toBe(2)
  expect(
    readXml(moved)
      .all('cputune/vcpupin')
      .map(({ attributes }) => attributes),
  ).toEqual([
    { vcpu: '0', cpuset: '0' },
    { vcpu: '1', cpuset: '1' },
  ])
})

test.each([
  [
    { vcpu: 1, ramMiB: 512 },
    { vcpu: 4, ramMiB: 512 },
  ],
  [
    { vcpu: 2, ramMiB: 4096 },
    { vcpu: 8, ramMiB: 16_384 },
  ],
  [
    { vcpu: 32, ramMiB: 131_072 },
    { vcpu: 64, ramMiB: 262_144 },
  ],
  [
    { vcpu: 96, ramMiB: 524_288 },
    { vcpu: 96, ramMiB: 524_288 },
  ],
])('%j has room for %j', (size, room) => {
  expect(roomFor(size)).toEqual(room)
})
