import type { SshKey } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
  name: 'list',
  about: 'list your SSH keys',
  example: 'key list',
  run: async ({ berth }) =>
    rows(
      await berth.sshKeys.list().all(),
      {
        NAME: (each: SshKey) => each.name,
        TYPE: (each) => each.type,
        FINGERPRINT: (each) => each.fingerprint,
        VMS: (each) => each.vmCount,
      },
      'There is no key yet: berth key add laptop @~/.ssh/id_ed25519.pub',
    ),
})
