import { nameText, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { ACTION_STATES } from './work.schema.ts'

const Url = nameText(1, 2_000)

export const ImportTemplate = object({
  slug: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    rule: 'must be 1-63 lower-case letters, digits or hyphens',
    description: 'Of a template of the catalog, or a new one',
  }),
  url: Type.Optional(
    Type.String({ ...Url, description: 'Of a qcow2 or raw image, by https from a public address; not given: that of the catalog' }),
  ),
  checksum: Type.Optional(
    Type.String({
      pattern: '^(sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128}|[0-9a-fA-F]{64}|[0-9a-fA-F]{128})$',
      rule: 'must be 64 hex digits of sha256 or 128 of sha512',
      description: 'That the file must have',
    }),
  ),
  checksumsUrl: Type.Optional(Type.String({ ...Url, description: "The distributor's file of checksums, such as SHA256SUMS" })),
  arch: Type.Optional(Type.Enum(['x86_64', 'aarch64'], { description: 'For another than its own it becomes a template of its own' })),
  name: Type.Optional(nameText(1, 100)),
  version: Type.Optional(nameText(1, 32)),
  distribution: Type.Optional(nameText(1, 32)),
  minDisk: Type.Optional(Type.Integer({ minimum: 1, maximum: 4_096, description: 'GiB' })),
  minRam: Type.Optional(Type.Integer({ minimum: 64, maximum: 262_144, description: 'MiB' })),
  defaultUser: Type.Optional(
    Type.String({
      pattern: '^[a-z_][a-z0-9_-]{0,31}$',
      rule: 'must be a user name',
      description: 'Who gets the SSH keys and the password',
    }),
  ),
  hasAgent: Type.Optional(Type.Boolean({ description: 'The image includes the QEMU guest agent' })),
  firmware: Type.Optional(oneOf(['bios', 'uefi', 'secure-boot'])),
  tpm: Type.Optional(Type.Boolean({ description: 'Its guests have a TPM' })),
})
export type ImportTemplate = Static<typeof ImportTemplate>

export const TemplateImport = object(
  {
    id: Type.String({ description: 'Of its action' }),
    slug: Type.String(),
    url: Type.String(),
    status: oneOf([...ACTION_STATES]),
    doing: Type.String({ description: 'What is done at the moment' }),
    error: nullable(Type.String()),
    createdAt: Timestamp,
    completedAt: nullable(Timestamp),
  },
  { title: 'TemplateImport' },
)
export type TemplateImport = Static<typeof TemplateImport>
