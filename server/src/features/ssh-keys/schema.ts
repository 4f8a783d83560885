import { nameQuery, nameText, object, sortQuery, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

export const SshKey = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    type: Type.String({ description: 'As in the key, for example ssh-ed25519' }),
    fingerprint: Type.String({ description: 'SHA256:… as ssh-keygen -l shows it' }),
    publicKey: Type.String({ description: 'The type and the key, without a comment' }),
    vmCount: Type.Integer({ description: 'How many VMs the key was installed on' }),
    createdAt: Timestamp,
  },
  { title: 'SshKey' },
)
export type SshKey = Static<typeof SshKey>

export const CreateSshKey = object({
  name: nameText(1, 100),
  publicKey: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description:
      'One OpenSSH public key: ssh-ed25519, ssh-rsa of at least 2048 bits, ecdsa-sha2-nistp256/384/521, or a security key (sk-…)',
  }),
  labels: Type.Optional(Labels),
})
export type CreateSshKey = Static<typeof CreateSshKey>

export const RenameSshKey = object(
  { name: Type.Optional(nameText(1, 100)), labels: Type.Optional(Labels) },
  { description: 'At least one of them' },
)
export type RenameSshKey = Static<typeof RenameSshKey>

export const SshKeyQuery = { ...nameQuery, ...labelQuery, ...sortQuery(['name', 'type', 'vmCount']) }
export type SshKeyQuery = Static<ReturnType<typeof Type.Object<typeof SshKeyQuery>>>

export const DeletedSshKey = object({ id: Type.String() })
