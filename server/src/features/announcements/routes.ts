import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { Announcement } from './schema.ts'
import { showAnnouncements } from './service.ts'

export const announcementRoutes: Routes = (api, { db, clock }) => {
  api.get(
    '/announcements',
    {
      operationId: 'listAnnouncements',
      summary: 'List what the operator announces to you now, newest first',
      tag: 'Maintenances',
      scope: 'account:read',
      data: Type.Array(Announcement),
    },
    ({ principal }) => showAnnouncements(db, clock.now(), principal.accountId),
  )
}
