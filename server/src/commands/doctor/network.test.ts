import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForPowerDns, openPowerDns } from '../../../test/powerdns-server.ts'
import { readConfig } from '../../config.ts'
import { reverseDns } from './network.ts'

const check = (settings: Record<string, string>) => reverseDns(readConfig(settings))

test('no name server is no problem, and one that cannot be reached is a warning', async () => {
  expect(await check({})).toMatchObject({ status: 'ok', message: 'no PowerDNS: customers cannot name their addresses' })
  expect(await check({ BERTH_PDNS_URL: 'http://127.0.0.1:1', BERTH_PDNS_KEY: 'key' })).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/^PowerDNS is unreachable \(.+\): reverse names wait for it$/),
    fix: expect.stringContaining('BERTH_PDNS_URL'),
  })
})

describeIf(missingForPowerDns())('with PowerDNS', async () => {
  const server = await openPowerDns()
  afterAll(() => server.close())

  test('its key is accepted or refused, and another path is not its API', async () => {
    const at = (url: string, key: string) => check({ BERTH_PDNS_URL: url, BERTH_PDNS_KEY: key })
    expect(await at(`${server.url}/`, server.key)).toMatchObject({ status: 'ok', message: 'PowerDNS is reachable and accepts the key' })
    expect(await at(server.url, 'another')).toEqual({
      status: 'warning',
      message: 'PowerDNS refuses the key: reverse names wait for it',
      fix: 'set BERTH_PDNS_KEY to the api-key of pdns.conf',
    })
    expect(await at(`${server.url}/berth`, server.key)).toMatchObject({
      status: 'warning',
      message: 'PowerDNS has no API at BERTH_PDNS_URL (it answered 404): reverse names wait for it',
    })
  })
})
