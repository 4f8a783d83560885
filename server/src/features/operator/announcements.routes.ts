import { Type } from '../../http/api/schema.ts'
import { CreateAnnouncement, OperatorAnnouncement } from '../announcements/schema.ts'
import { createAnnouncement, listAllAnnouncements, withdrawAnnouncement } from '../announcements/service.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'

const common = { tag: 'Operator', scope: OPERATOR }

export const announcementRoutes: Routes = (api, { db, clock }) => {
  api.get(
    '/operator/announcements',
    {
      operationId: 'operatorListAnnouncements',
      summary: 'List announcements, newest first',
      ...common,
      data: Type.Array(OperatorAnnouncement),
    },
    () => listAllAnnouncements(db, clock.now()),
  )

  api.post(
    '/operator/announcements',
    {
      operationId: 'operatorCreateAnnouncement',
      summary: 'Announce something to all customers, or to those of a region',
      ...common,
      requiresReauth: true,
      body: CreateAnnouncement,
      status: 201,
      data: OperatorAnnouncement,
      errorCodes: ['not_found'],
    },
    (tx, { body }) => createAnnouncement(tx, clock.now(), body),
  )

  api.delete(
    '/operator/announcements/:id',
    {
      operationId: 'operatorEndAnnouncement',
      summary: 'Withdraw an announcement: nobody is shown it any more',
      ...common,
      params: { id: Type.String() },
      data: OperatorAnnouncement,
      errorCodes: ['invalid_state'],
    },
    (tx, { params: { id } }) => withdrawAnnouncement(tx, clock.now(), id),
  )
}
