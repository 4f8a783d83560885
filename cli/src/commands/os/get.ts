import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { bytes, mebibytes, time } from '../../format.ts'

export const get = verb({
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
