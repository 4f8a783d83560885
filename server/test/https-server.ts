// A server of https on loopback, with a certificate of an authority made for the test. Berth has no setting that skips the check: a test
// trusts the authority as an operator would, in its own process or by NODE_EXTRA_CA_CERTS in another.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createAuthority } from '../../libvirt/test/certificates.ts'

export interface HttpsServer {
  /** Without a slash at its end. */
  url: string
  caFile: string
  close(): Promise<void>
}

export async function httpsServer(answer: RequestListener): Promise<HttpsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-https-'))
  const authority = await createAuthority(folder)
  const server = createServer(await authority.issue('server', ['IP:127.0.0.1']), answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.ca])
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caFile: join(folder, 'ca.pem'),
    async close() {
      setDefaultCACertificates(before)
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}
