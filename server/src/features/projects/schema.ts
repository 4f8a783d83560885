import { nameText, nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { BudgetInput, BudgetLimits, BudgetView } from '../budgets/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

const fields = {
  id: Type.String({ description: 'Of an account: to name it where one of several is meant' }),
  name: Type.String(),
  createdAt: Timestamp,
}

export const Project = object(
  {
    ...fields,
    budget: nullable(BudgetView),
    vmCount: Type.Integer({ description: 'VMs in it; the limits of the account are for all its projects together' }),
  },
  { title: 'Project' },
)
export type Project = Static<typeof Project>

const Name = nameText(1, 100)

const Budget = Type.Optional(nullable(BudgetInput))

export const CreateProject = object({ name: Name, budget: Budget })
export type CreateProject = Static<typeof CreateProject>

export const UpdateProject = object({ name: Type.Optional(Name), budget: Budget }, { description: 'At least one of them' })
export type UpdateProject = Static<typeof UpdateProject>

export const DeletedProject = object({ id: Type.String() })

const ProjectEventData = object(
  { project: object({ ...fields, budget: nullable(BudgetLimits) }, { title: 'EventProject' }) },
  { title: 'ProjectEventData' },
)

export const projectEvents = {
  'project.created': defineEvent(ProjectEventData, 'A project was made', { by: ['createProject'] }),
  'project.updated': defineEvent(ProjectEventData, 'A project was renamed, or got another budget', { by: ['updateProject'] }),
  'project.deleted': defineEvent(ProjectEventData, 'A project was deleted, with its members and API tokens', { by: ['deleteProject'] }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof projectEvents> {}
}
