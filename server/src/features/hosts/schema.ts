import { object, Type, type Static } from '../../http/api/schema.ts'

export const Node = object({ id: Type.String(), name: Type.String(), available: Type.Boolean() }, { title: 'Node' })
export type Node = Static<typeof Node>
