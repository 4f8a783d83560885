import { expect, test } from 'vitest'
import { commandsFor } from '../src/screens/operator/host-commands.ts'

const host = { address: '10.0.0.5', name: 'rack1', region: 'fra1' }

test('a host is added by three commands', () => {
  expect(commandsFor(host)).toEqual({
    certificate: 'berthd host certificate --address 10.0.0.5 --out bundle',
    prepare: 'sudo berthd host prepare --certificate bundle',
    register: 'berthd host add qemu+tls://10.0.0.5/system --name rack1 --region fra1',
  })
  expect(commandsFor({ ...host, address: '2001:db8::5' })?.register).toContain('qemu+tls://[2001:db8::5]/system')
})

test('nothing that a shell would read gets into a command', () => {
  for (const bad of ['', 'a b', '$(id)', '`id`', 'a;id', 'a|b', '-x', '"', "'", 'a&b', '../x'])
    expect([
      bad,
      commandsFor({ ...host, address: bad }),
      commandsFor({ ...host, name: bad }),
      commandsFor({ ...host, region: bad }),
    ]).toEqual([bad, null, null, null])
})
