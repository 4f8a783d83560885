import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateSshKey, DeletedSshKey, RenameSshKey, SshKey, SshKeyQuery } from './schema.ts'
import { createKey, deleteKey, getKey, listKeys, renameKey } from './service.ts'

const tag = 'SSH keys'
const params = { id: Type.String() }

export const sshKeyRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/ssh-keys',
    { operationId: 'listSshKeys', summary: 'List SSH keys, newest first', tag, scope: 'ssh_keys:read', query: SshKeyQuery, data: SshKey },
    ({ principal, query }, page) => listKeys(db, principal.accountId, query, page),
  )

  api.post(
    '/ssh-keys',
    {
      operationId: 'createSshKey',
      errorCodes: ['already_exists', 'quota_exceeded'],
      summary: 'Add an SSH key',
      tag,
      scope: 'ssh_keys:create',
      body: CreateSshKey,
      status: 201,
      data: SshKey,
    },
    (tx, { principal, body }) => createKey(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/ssh-keys/:id',
    { operationId: 'getSshKey', summary: 'Get an SSH key', tag, scope: 'ssh_keys:read', params, data: SshKey },
    ({ principal, params: { id } }) => getKey(db, principal.accountId, id),
  )

  api.patch(
    '/ssh-keys/:id',
    {
      operationId: 'renameSshKey',
      summary: 'Rename or label an SSH key',
      tag,
      scope: 'ssh_keys:update',
      params,
      body: RenameSshKey,
      data: SshKey,
      before: (tx, { principal, params: { id } }) => getKey(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => renameKey(tx, principal.accountId, id, body),
  )

  api.delete(
    '/ssh-keys/:id',
    {
      operationId: 'deleteSshKey',
      summary: 'Delete an SSH key. VMs it was installed on keep it: remove it inside them, or rebuild them',
      tag,
      scope: 'ssh_keys:delete',
      params,
      data: DeletedSshKey,
      before: (tx, { principal, params: { id } }) => getKey(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteKey(tx, principal.accountId, id),
  )
}
