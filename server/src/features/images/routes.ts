import { ApiResponse, DryRunResult } from '../../http/api/api.ts'
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { CreateImage, Image, ImageCreated, ImageQuery, UpdateImage } from './schema.ts'
import { createImage, deleteImage, getImage, listImages, updateImage } from './service.ts'

const tag = 'Images'
const params = { id: Type.String() }

export const imageRoutes: Routes = (api, deps) => {
  const { db, outbound } = deps

  api.page(
    '/images',
    {
      operationId: 'listImages',
      summary: 'List images of the account, newest first',
      tag,
      scope: 'images:read',
      query: ImageQuery,
      data: Image,
    },
    ({ principal, query }, page) => listImages(db, principal.accountId, query, page),
  )

  api.post(
    '/images',
    {
      operationId: 'createImage',
      summary: 'Make an image from a VM, a snapshot or a backup, or import one from a URL. It is charged monthly by its size',
      tag,
      scope: 'images:create',
      body: CreateImage,
      status: 202,
      data: ImageCreated,
      errorCodes: [
        'not_found',
        'busy',
        'invalid_state',
        'incompatible',
        'unavailable',
        'url_not_allowed',
        'quota_exceeded',
        'insufficient_funds',
        'no_capacity',
      ],
      ...quotedOnDryRun,
      prepare: ({ body }) => outbound.rejectionReason(body.url!),
      preparesFor: ({ body }) => body.url !== undefined,
    },
    async (tx, { principal, body, query }, reasonAgainst) => {
      const result = await createImage(tx, deps, principal, body, reasonAgainst, query.dryRun)
      return result instanceof DryRunResult ? result : new ApiResponse(result, 202, `/images/${result.image.id}`)
    },
  )

  api.get(
    '/images/:id',
    { operationId: 'getImage', summary: 'Get an image', tag, scope: 'images:read', params, data: Image },
    ({ principal, params: { id } }) => getImage(db, principal.accountId, id),
  )

  api.patch(
    '/images/:id',
    {
      operationId: 'updateImage',
      summary: 'Rename, label or protect an image',
      tag,
      scope: 'images:update',
      params,
      body: UpdateImage,
      data: Image,
      errorCodes: ['invalid_state'],
      before: (tx, { principal, params: { id } }) => getImage(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => updateImage(tx, deps, principal.accountId, id, body),
  )

  api.delete(
    '/images/:id',
    {
      operationId: 'deleteImage',
      summary: 'Delete an image that no VM needs; unused days are refunded. It reads DELETING until its files are gone',
      tag,
      scope: 'images:delete',
      params,
      data: Image,
      errorCodes: ['in_use', 'protected'],
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getImage(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, query }) => deleteImage(tx, deps, principal.accountId, id, query.dryRun),
  )
}
