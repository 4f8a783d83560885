import { nullable, Type } from '../../http/api/schema.ts'

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** Lower-case, without the dot at the end. */
export const ReverseName = nullable(
  Type.String({
    maxLength: 253,
    pattern: `^(${LABEL}\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`,
    rule: 'must be a full host name in lower case, such as mail.example.com, or null',
    description: 'What reverse DNS (PTR) says of the address; null: nothing',
  }),
)

const state = nullable(
  Type.String({ enum: ['PENDING', 'SET', 'FAILED'], description: 'Whether the name server has it; FAILED is tried again' }),
)
const reason = nullable(Type.String({ description: 'Why the name server does not have it yet' }))

export const reverseFields = {
  reverseName: nullable(Type.String({ description: 'What reverse DNS (PTR) says of the address, or is about to' })),
  reverseNameState: state,
  reverseNameReason: reason,
}

export const ipv6ReverseFields = {
  ipv6ReverseName: nullable(Type.String({ description: 'What reverse DNS (PTR) says of ipv6Address, or is about to' })),
  ipv6ReverseNameState: state,
  ipv6ReverseNameReason: reason,
}
