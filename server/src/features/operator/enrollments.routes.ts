// How hosts are added.
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { addSimulatedHost, createEnrollment, listEnrollments, prepareEnrollment, revokeEnrollment } from '../hosts/service.ts'
import { OPERATOR } from '../sessions/service.ts'
import * as shapes from './enrollments.schema.ts'
import { OperatorHost } from './fleet.schema.ts'
import { showHosts } from './fleet.ts'
import { toEnrollment } from './view.ts'

const common = { tag: 'Operator', scope: OPERATOR }

export const enrollmentRoutes: Routes = (api, deps) => {
  const { db, clock } = deps

  api.get(
    '/operator/host-enrollments',
    {
      operationId: 'operatorListHostEnrollments',
      summary: 'List hosts that are being added or were lately, newest first',
      ...common,
      data: Type.Array(shapes.HostEnrollment),
    },
    async () => (await listEnrollments(db)).map((row) => toEnrollment(row, clock.now())),
  )

  api.post(
    '/operator/host-enrollments',
    {
      operationId: 'operatorEnrollHost',
      summary: 'Make a token by which a new host fetches its certificates, once and within an hour',
      ...common,
      requiresReauth: true,
      ignoresIdempotencyKey: true,
      body: shapes.EnrollHost,
      status: 201,
      data: shapes.NewHostEnrollment,
      errorCodes: ['not_found', 'already_exists', 'invalid_state'],
      prepare: ({ body }) => prepareEnrollment(deps, body),
    },
    async (tx, { body }, prepared) => {
      const { row, token } = await createEnrollment(tx, clock.now(), body, prepared)
      return { ...toEnrollment(row, clock.now()), token }
    },
  )

  api.delete(
    '/operator/host-enrollments/:id',
    {
      operationId: 'operatorRevokeHostEnrollment',
      summary: 'Stop adding a host: its token and its certificates are revoked',
      ...common,
      params: { id: Type.String() },
      data: shapes.HostEnrollment,
      errorCodes: ['invalid_state'],
    },
    async (tx, { params: { id } }) => toEnrollment(await revokeEnrollment(tx, clock.now(), id), clock.now()),
  )

  api.post(
    '/operator/hosts',
    {
      operationId: 'operatorAddSimulatedHost',
      summary: 'Add a simulated host, where no host is real',
      ...common,
      body: shapes.AddSimulatedHost,
      status: 201,
      data: OperatorHost,
      errorCodes: ['not_found', 'already_exists', 'invalid_state', 'in_use'],
    },
    async (tx, { body }) => {
      const id = await addSimulatedHost(tx, clock.now(), body)
      return (await showHosts(tx)).find((host) => host.id === id)!
    },
  )
}
