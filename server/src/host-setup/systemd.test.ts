import { describe, expect, test } from 'vitest'
import { listenProblem } from './libvirt-daemons.ts'
import { socketUnit } from './tls.ts'

describe('a host under systemd', () => {
  test.each([
    ['10.0.0.5', '10.0.0.5:16514'],
    ['fd00::5', '[fd00::5]:16514'],
    ['rack1.example.com', '16514'],
  ])('reached at %s listens on %s', (tlsAddress, listens) => {
    expect(socketUnit({ tlsAddress })).toContain(`\nListenStream=\nListenStream=${listens}\n`)
  })

  test.each([
    ['open', 'ActiveState=active\nNeedDaemonReload=no\n', null],
    ['closed beside a libvirtd that runs', 'ActiveState=inactive\nNeedDaemonReload=no\n', 'libvirtd does not listen for other machines'],
    ['open where it was before', 'NeedDaemonReload=yes\nActiveState=active\n', 'libvirtd does not listen for other machines'],
    ['refused', 'ActiveState=failed\nNeedDaemonReload=no\n', 'libvirtd does not listen for other machines'],
  ])('whose socket is %s', async (_, shown, reason) => {
    const asked: string[] = []
    const ask = async (...words: string[]): Promise<string> => (asked.push(words.join(' ')), shown)
    expect(await listenProblem({ tlsAddress: '10.0.0.5', systemd: true }, ask)).toBe(reason)
    expect(asked).toEqual(['systemctl show --property=ActiveState,NeedDaemonReload libvirtd-tls.socket'])
  })

  test('that is reached from itself alone needs no socket', async () => {
    const ask = (): Promise<string> => Promise.reject(new Error('nobody asks'))
    expect(await listenProblem({ tlsAddress: null, systemd: true }, ask)).toBeNull()
  })
})
