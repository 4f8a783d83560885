// An OCI image of one architecture, without a registry: a root file system of Debian with our package in it, as an archive of an OCI layout, and its bill of
// materials. Built twice from the same commit and the same packages of Debian, it is the same file.
import { execFileSync } from 'node:child_process'
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { debianSources } from '../../server/src/images/debian/sources.ts'
import type { Architecture } from '../deb/build.ts'
import { sbomOf } from './sbom.ts'

export interface ImageSource {
  /** The repository. */
  root: string
  version: string
  /** Of the commit. */
  epochSeconds: number
  arch: Architecture
  /** Our package. */
  deb: string
}

const RELEASE = 'bookworm'
/** What our package depends on, and what it calls for certificates, images of templates and storage backends. */
const INCLUDED = ['adduser', 'ca-certificates', 'ceph-common', 'libstdc++6', 'openssl', 'qemu-utils', 'xz-utils']
/** Returns the names of the files in `into`: the image and its bill of materials. */
export async function buildImage(source: ImageSource, into: string): Promise<[image: string, sbom: string]> {
  const stage = mkdtempSync(join(tmpdir(), `berth-oci-${source.arch}-`))
  try {
    await makeRoot(source, stage)
    const name = `berth_${source.version}_${source.arch}`
    const [image, sbom] = [`${name}.oci.tar`, `${name}.cdx.json`]
    const lock = join(source.root, 'package-lock.json')
    writeFileSync(join(into, sbom), sbomOf(join(stage, 'root'), { version: source.version, lists: join(stage, 'lists'), lock }))
    await writeLayout(source, stage, join(into, image))
    return [image, sbom]
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** `root`, its tar, and the lists of apt from which it was made. */
async function makeRoot({ arch, deb, epochSeconds }: ImageSource, stage: string): Promise<void> {
  const sources = Object.entries(await debianSources(RELEASE)).filter(([, text]) => text !== '')
  const files = sources.map(([suffix, text]) => {
    writeFileSync(join(stage, `debian.${suffix}`), text as string)
    return join(stage, `debian.${suffix}`)
  })
  mkdirSync(join(stage, 'lists'))
  const hooks = [
    `cp ${deb} "$1/berth.deb" && chroot "$1" dpkg --install /berth.deb && rm "$1/berth.deb"`,
    `cp "$1"/var/lib/apt/lists/*_Packages ${join(stage, 'lists')}`,
    'rm -rf "$1"/etc/apt/sources.list* "$1"/var/log/* "$1"/var/cache/* "$1"/etc/machine-id "$1"/usr/share/man; : > "$1/etc/berth/berth.env"', // settings come from the environment
    'chroot "$1" install -d -m 0700 -o berth -g berth /var/cache/berth',
    'find "$1" -xdev -type f -perm /6000 -exec chmod a-s {} +', // nothing in it needs to become another user
  ].map((hook) => `--customize-hook=${hook}`)
  const args = ['--variant=minbase', `--architectures=${arch}`, `--include=${INCLUDED.join(',')}`, '--format=tar', ...hooks]
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epochSeconds) }
  execFileSync('mmdebstrap', ['--quiet', ...args, RELEASE, join(stage, 'root.tar'), ...files], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  mkdirSync(join(stage, 'root'))
  execFileSync('tar', ['-xf', join(stage, 'root.tar'), '-C', join(stage, 'root'), '--exclude=./dev/*', '--no-same-owner'])
}

const NODE = '/usr/lib/berth/bin/node'

/** The first process creates the master key in the data folder, which all processes share. */
const configOf = ({ version, arch, epochSeconds }: ImageSource, diffId: string) => ({
  architecture: arch,
  os: 'linux',
  created: new Date(epochSeconds * 1000).toISOString(),
  config: {
    User: 'berth',
    WorkingDir: '/var/lib/berth',
    Env: [
      'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
      'NODE_ENV=production',
      'NODE_COMPILE_CACHE=/var/cache/berth',
      'BERTH_HOST=0.0.0.0',
      'BERTH_METRICS_HOST=0.0.0.0',
      'BERTH_DATA_DIR=/var/lib/berth',
    ],
    Entrypoint: [NODE, '--max-old-space-size=1024', '--max-semi-space-size=8', '/usr/lib/berth/node_modules/@berth/server/bin/berthd.mjs'],
    Cmd: ['api'],
    ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
    Volumes: { '/var/lib/berth': {} },
    StopSignal: 'SIGTERM',
    Labels: { 'org.opencontainers.image.title': 'berth', 'org.opencontainers.image.version': version },
  },
  rootfs: { type: 'layers', diff_ids: [diffId] },
})

async function writeLayout(source: ImageSource, stage: string, file: string): Promise<void> {
  const layout = join(stage, 'layout')
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const layer = join(stage, 'layer.tar.gz')
  await pipeline(createReadStream(join(stage, 'root.tar')), createGzip(), createWriteStream(layer))
  const keep = (path: string, mediaType: string) => {
    const digest = sha256Of(path)
    const blob = join(layout, 'blobs/sha256', digest)
    renameSync(path, blob)
    return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${digest}`, size: statSync(blob).size }
  }
  const keepJson = (value: object, mediaType: string) => {
    writeFileSync(join(stage, 'blob.json'), JSON.stringify(value))
    return keep(join(stage, 'blob.json'), mediaType)
  }
  const config = keepJson(configOf(source, `sha256:${sha256Of(join(stage, 'root.tar'))}`), 'config.v1+json')
  const layers = [keep(layer, 'layer.v1.tar+gzip')]
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = keepJson({ schemaVersion: 2, mediaType, config, layers }, 'manifest.v1+json')
  const named = {
    ...manifest,
    platform: { architecture: source.arch, os: 'linux' },
    annotations: { 'org.opencontainers.image.ref.name': `berth:${source.version}` },
  }
  writeFileSync(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }))
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  const same = ['--sort=name', `--mtime=@${source.epochSeconds}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  execFileSync('tar', ['-cf', file, ...same, '-C', layout, 'oci-layout', 'index.json', 'blobs'])
}

/** Of a file that may be larger than what Node reads at once. */
const sha256Of = (path: string): string => execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64)
