import { describe, expect, test } from 'vitest'
import { listenProblem } from './libvirt-daemons.ts'
import { socketUnit } from './tls.ts'

describe('a host under systemd', () => {
  test.each([
    ['10.0.0.5', '10.0.0.5:16514'],
    ['fd00::5', '[fd00::5]:16514'],
    ['rack1.example.com', '16514'],
  ])('at %s listens on %s', (tlsAddress, listens) => {
    expect(socketUnit({ tlsAddress })).toContain(`\nListenStream=\nListenStream=${listens}\n`)
  })

  test.each([
    ['open', 'ActiveState=active\nNeedDaemonReload=no\n', null],
    ['closed beside a running libvirtd', 'ActiveState=inactive\nNeedDaemonReload=no\n', 'libvirtd does not listen on the network'],
    ['open at its old address', 'NeedDaemonReload=yes\nActiveState=active\n', 'libvirtd does not listen on the network'],
    ['refused', 'ActiveState=failed\nNeedDaemonReload=no\n', 'libvirtd does not listen on the network'],
  ])('reports a socket that is %s', async (_, shown, reason) => {
    const asked: string[] = []
    const ask = async (...words: string[]): Promise<string> => (asked.push(words.join(' ')), shown)
    expect(await listenProblem({ tlsAddress: '10.0.0.5', systemd: true }, ask)).toBe(reason)
    expect(asked).toEqual(['systemctl show --property=ActiveState,NeedDaemonReload libvirtd-tls.socket'])
  })

  test('needs no socket when only local clients connect', async () => {
    const ask = (): Promise<string> => Promise.reject(new Error('systemctl must not be called'))
    expect(await listenProblem({ tlsAddress: null, systemd: true }, ask)).toBeNull()
  })
})
