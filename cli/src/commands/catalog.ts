import type { Node, OsTemplate, Plan, Region } from '@berth/sdk'
import { record, rows } from '../answer.ts'
import { group, verb } from '../command.ts'
import { bytes, mebibytes, time } from '../format.ts'

const listRegions = verb({
  name: 'list',
  about: 'list regions',
  example: 'region list',
  run: async ({ berth }) =>
    rows(
      await berth.regions.list(),
      {
        SLUG: (each: Region) => each.slug,
        NAME: (each) => each.name,
        CITY: (each) => each.city,
        COUNTRY: (each) => each.country,
        AVAILABLE: (each) => each.available,
      },
      'There is no region',
    ),
})

const listNodes = verb({
  name: 'nodes',
  about: 'the machines of a region that private networks can live on',
  args: '<region>',
  example: 'region nodes fra1',
  run: async (call, _, region: string) =>
    rows(
      await call.berth.regions.nodes(await call.id('region', region)),
      { NAME: (each: Node) => each.name, AVAILABLE: (each) => each.available, ID: (each) => each.id },
      'There is no machine',
    ),
})

export const region = group('region', 'where VMs run', [listRegions, listNodes])

const listPlans = verb({
  name: 'list',
  about: 'list plans with their prices',
  example: 'plan list',
  run: async ({ berth }) =>
    rows(
      await berth.plans.list(),
      {
        SLUG: (each: Plan) => each.slug,
        VCPU: (each) => each.vcpu,
        RAM: (each) => mebibytes(each.ram),
        DISK: (each) => `${each.disk} GiB`,
        TRAFFIC: (each) => (each.bandwidth === 0 ? 'unmetered' : `${each.bandwidth} GB`),
        SPEED: (each) => `${each.networkSpeed} Mbit/s`,
        'A MONTH': (each) => `${each.priceMonthly} ${each.currency}`,
        AVAILABLE: (each) => each.available,
      },
      'There is no plan',
    ),
})

export const plan = group('plan', 'sizes and prices', [listPlans])

const listOsTemplates = verb({
  name: 'list',
  about: 'list OS templates',
  example: 'os list',
  run: async ({ berth }) =>
    rows(
      await berth.osTemplates.list(),
      {
        SLUG: (each: OsTemplate) => each.slug,
        NAME: (each) => each.name,
        ARCH: (each) => each.arch,
        'LEAST RAM': (each) => mebibytes(each.minRam),
        'LEAST DISK': (each) => `${each.minDisk} GiB`,
        USER: (each) => each.defaultUser,
        AVAILABLE: (each) => each.available,
      },
      'There is no OS template',
    ),
})

const getOsTemplate = verb({
  name: 'get',
  about: 'show an OS template',
  args: '<os>',
  example: 'os get debian-12',
  run: async ({ berth }, _, slug: string) =>
    record(await berth.osTemplates.get(slug), {
      Slug: (each) => each.slug,
      Id: (each) => each.id,
      Name: (each) => each.name,
      Arch: (each) => each.arch,
      'Least RAM': (each) => mebibytes(each.minRam),
      'Least disk': (each) => `${each.minDisk} GiB`,
      User: (each) => each.defaultUser,
      Size: (each) => bytes(each.sizeBytes),
      Available: (each) => each.available,
      Deprecated: (each) => time(each.deprecatedAt),
    }),
})

export const os = group('os', 'operating systems', [listOsTemplates, getOsTemplate])
