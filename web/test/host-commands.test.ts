import { expect, test } from 'vitest'
import { commandsFor } from '../src/screens/operator/host-commands.ts'

test('a machine becomes a host by two commands', () => {
  const origin = 'https://cloud.example.com'
  expect(commandsFor({ origin, uplink: null })).toEqual({
    fetch: 'berthd host fetch-bundle https://cloud.example.com --token-file - --out bundle',
    prepare: 'sudo berthd host prepare --certificate bundle',
  })
  expect(commandsFor({ origin, uplink: 'eth1' }).prepare).toBe('sudo berthd host prepare --certificate bundle --uplink eth1')
})
