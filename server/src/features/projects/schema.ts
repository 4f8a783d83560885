import { nameText, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

const fields = {
  id: Type.String({ description: 'Of an account: to name it where one of several is meant' }),
  name: Type.String(),
  createdAt: Timestamp,
}

export const Project = object(
  { ...fields, vmCount: Type.Integer({ description: 'VMs in it; the limits of the account are for all its projects together' }) },
  { title: 'Project' },
)
export type Project = Static<typeof Project>

const Name = nameText(1, 100)

export const CreateProject = object({ name: Name })
export type CreateProject = Static<typeof CreateProject>

export const RenameProject = object({ name: Name })
export type RenameProject = Static<typeof RenameProject>

export const DeletedProject = object({ id: Type.String() })

const ProjectEventData = object({ project: object(fields, { title: 'EventProject' }) }, { title: 'ProjectEventData' })

export const projectEvents = {
  'project.created': defineEvent(ProjectEventData, 'A project was made', { by: ['createProject'] }),
  'project.renamed': defineEvent(ProjectEventData, 'A project was renamed', { by: ['renameProject'] }),
  'project.deleted': defineEvent(ProjectEventData, 'A project was deleted, with its members and API tokens', { by: ['deleteProject'] }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof projectEvents> {}
}
