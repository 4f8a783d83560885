// A certificate authority for one test run, by the openssl command.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Identity {
  cert: string
  key: string
}

export interface Authority {
  ca: string
  /** `names` as in `IP:10.0.0.1` or `DNS:host.example`. */
  issue(commonName: string, names: string[]): Promise<Identity>
}

export async function createAuthority(folder: string): Promise<Authority> {
  const file = (name: string) => join(folder, name)
  const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
  await request(['-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=test authority', ...extensions])
  const ca = await readFile(file('ca.pem'), 'utf8')
  return {
    ca,
    async issue(commonName, names) {
      const [key, cert] = [file(`${commonName}.key`), file(`${commonName}.pem`)]
      const usage = ['-addext', 'keyUsage=digitalSignature,keyEncipherment', '-addext', 'extendedKeyUsage=serverAuth,clientAuth']
      const alternative = names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : []
      const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-addext', 'basicConstraints=CA:FALSE']
      await request(['-keyout', key, '-out', cert, '-subj', `/O=Test/CN=${commonName}`, ...signer, ...usage, ...alternative])
      return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
    },
  }
}

/** The configuration is ours, so that the machine's own adds no extensions. */
async function request(options: string[]): Promise<void> {
  const keyFile = options[options.indexOf('-keyout') + 1]
  const config = `${keyFile}.cnf`
  await writeFile(config, '[req]\ndistinguished_name=name\n[name]\n')
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  await run('openssl', ['req', '-config', config, '-x509', ...ec, ...options])
}
