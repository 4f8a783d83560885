import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateProject, DeletedProject, Project, UpdateProject } from './schema.ts'
import { createProject, deleteProject, getProject, listProjects, updateProject } from './service.ts'

const about = { tag: 'Projects', isOfPayer: true } as const
const params = { id: Type.String() }

export const projectRoutes: Routes = (api, deps) => {
  const { db, clock } = deps

  api.page(
    '/projects',
    {
      operationId: 'listProjects',
      summary: 'List the projects that the account pays for, newest first',
      ...about,
      scope: 'projects:read',
      data: Project,
    },
    ({ principal }, page) => listProjects(db, clock.now(), principal.accountId, page),
  )

  api.post(
    '/projects',
    {
      operationId: 'createProject',
      summary: 'Make a project, with members and API tokens of its own',
      ...about,
      scope: 'projects:create',
      body: CreateProject,
      status: 201,
      data: Project,
      errorCodes: ['quota_exceeded', 'unavailable'],
    },
    (tx, { principal, body }) => createProject(tx, deps, principal, body),
  )

  api.get(
    '/projects/:id',
    { operationId: 'getProject', summary: 'Get a project', ...about, scope: 'projects:read', params, data: Project },
    ({ principal, params: { id } }) => getProject(db, clock.now(), principal.accountId, id),
  )

  api.patch(
    '/projects/:id',
    {
      operationId: 'updateProject',
      summary: 'Rename a project, or change its budget',
      ...about,
      scope: 'projects:update',
      params,
      body: UpdateProject,
      data: Project,
      errorCodes: ['incompatible'],
      before: (tx, { principal, params: { id } }) => getProject(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => updateProject(tx, deps, principal, id, body),
  )

  api.delete(
    '/projects/:id',
    {
      operationId: 'deleteProject',
      summary: 'Delete a project without resources; its members, API tokens, webhooks, alerts and tickets end with it',
      ...about,
      scope: 'projects:delete',
      requiresReauth: true,
      params,
      data: DeletedProject,
      errorCodes: ['in_use'],
      before: (tx, { principal, params: { id } }) => getProject(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteProject(tx, deps, principal, id),
  )
}
