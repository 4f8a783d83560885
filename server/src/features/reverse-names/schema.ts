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

export const reverseFields = {
  reverseName: nullable(Type.String({ description: 'What reverse DNS (PTR) says of the address, or is about to' })),
  reverseNameState: nullable(
    Type.String({ enum: ['PENDING', 'SET', 'FAILED'], description: 'Whether the name server has it; FAILED is tried again' }),
  ),
  reverseNameReason: nullable(Type.String({ description: 'Why the name server does not have it yet' })),
}
