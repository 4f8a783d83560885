import type { Availability, Node, OsTemplate, Plan, Query, Region } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { bytes, mebibytes, time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, table } from '../result.ts'

const listRegions = defineCommand({
  name: 'list',
  description: 'list regions',
  example: 'region list',
  run: async ({ berth }) =>
    table(
      await berth.regions.list(),
      {
        SLUG: (each: Region) => each.slug,
        NAME: (each) => each.name,
        CITY: (each) => each.city,
        COUNTRY: (each) => each.country,
        AVAILABLE: (each) => each.available,
      },
      'No regions available',
    ),
})

const listNodes = defineCommand({
  name: 'nodes',
  description: 'list the hosts of a region for private networks',
  args: '<region>',
  example: 'region nodes fra1',
  run: async (ctx, _, region: string) =>
    table(
      await ctx.berth.regions.nodes(await ctx.resolveId('region', region)),
      { NAME: (each: Node) => each.name, AVAILABLE: (each) => each.available, ID: (each) => each.id },
      'No hosts available',
    ),
})

export const region = group('region', 'regions and their hosts', [listRegions, listNodes])

const listPlans = defineCommand({
  name: 'list',
  description: 'list plans with prices',
  example: 'plan list',
  run: async ({ berth }) =>
    table(
      await berth.plans.list(),
      {
        SLUG: (each: Plan) => each.slug,
        VCPU: (each) => each.vcpu,
        CPU: (each) => (each.dedicatedCpu ? 'dedicated' : 'shared'),
        RAM: (each) => mebibytes(each.ram),
        DISK: (each) => `${each.disk} GiB`,
        STORAGE: (each) => each.storage.toLowerCase(),
        TRAFFIC: (each) => (each.bandwidth === 0 ? 'unmetered' : `${each.bandwidth} GB`),
        SPEED: (each) => `${each.networkSpeed} Mbit/s`,
        'MONTHLY PRICE': (each) => `${each.priceMonthly} ${each.currency}`,
        AVAILABLE: (each) => each.available,
      },
      'No plans available',
    ),
})

const nameOfAvailability = (row: object): string => {
  const { region, plan, architecture } = row as Availability
  return `${region.slug}/${plan.slug}/${architecture}`
}

const availability = defineCommand<{ region?: string; plan?: string; arch?: string }>({
  name: 'availability',
  description: 'list which plan can be had in which region now, and why not',
  options: [
    ['--region <region>', 'only this region'],
    ['--plan <plan>', 'only this plan'],
    ['--arch <arch>', 'x86_64 or aarch64, for OS templates of this architecture'],
  ],
  example: 'plan availability --region fra1',
  run: async ({ berth }, { region, plan, arch }) =>
    table(
      await berth.plans.availability(omitUndefined({ region, plan, architecture: arch as Query<'listAvailability'>['architecture'] })),
      {
        REGION: (each: Availability) => each.region.slug,
        PLAN: (each) => each.plan.slug,
        ARCH: (each) => each.architecture,
        AVAILABLE: (each) => each.available,
        REASON: (each) => each.reason,
      },
      'No plan matches',
      nameOfAvailability,
    ),
})

export const plan = group('plan', 'VM sizes and prices', [listPlans, availability])

const listOsTemplates = defineCommand({
  name: 'list',
  description: 'list OS templates',
  example: 'os list',
  run: async ({ berth }) =>
    table(
      await berth.osTemplates.list(),
      {
        SLUG: (each: OsTemplate) => each.slug,
        NAME: (each) => each.name,
        ARCH: (each) => each.arch,
        'MIN RAM': (each) => mebibytes(each.minRam),
        'MIN DISK': (each) => `${each.minDisk} GiB`,
        USER: (each) => each.defaultUser,
        AVAILABLE: (each) => each.available,
      },
      'No OS templates available',
    ),
})

const getOsTemplate = defineCommand({
  name: 'get',
  description: 'show an OS template',
  args: '<os>',
  example: 'os get debian-12',
  run: async ({ berth }, _, slug: string) =>
    details(await berth.osTemplates.get(slug), {
      Slug: (each) => each.slug,
      Id: (each) => each.id,
      Name: (each) => each.name,
      Arch: (each) => each.arch,
      'Min RAM': (each) => mebibytes(each.minRam),
      'Min disk': (each) => `${each.minDisk} GiB`,
      User: (each) => each.defaultUser,
      Size: (each) => bytes(each.sizeBytes),
      Available: (each) => each.available,
      Deprecated: (each) => time(each.deprecatedAt),
    }),
})

export const os = group('os', 'OS templates', [listOsTemplates, getOsTemplate])
