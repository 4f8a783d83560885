// The input and the answer of every operation, in the form that api.ts and the resources use.
import type { operations } from './generated/openapi.ts'

export type OperationId = keyof operations

/** Optional properties accept undefined: `{ query }` may be written where `query` is not given. */
type AcceptUndefined<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] }

type Json<T> = T extends { content: { 'application/json': infer Value } } ? Value : never

type Path<O> = O extends { parameters: { path: infer Path } } ? { path: Path } : object
type Query<O> = O extends { parameters: { query?: infer Query extends object } } ? { query?: AcceptUndefined<Query> | undefined } : object
type Body<O> = O extends { requestBody: infer Body }
  ? { body: Json<Body> }
  : O extends { requestBody?: infer Body extends object }
    ? { body?: Json<Body> | undefined }
    : object

type Success<O> = O extends { responses: infer Responses } ? Json<Responses[keyof Responses]> : never

type ById = {
  [Id in OperationId]: {
    input: Path<operations[Id]> & Query<operations[Id]> & Body<operations[Id]>
    data: Success<operations[Id]>['data']
    paged: Success<operations[Id]> extends { pagination: unknown } ? true : false
  }
}

/** An interface: of the type itself the compiler would combine every path, query and body with every other where the operation is not known. */
export interface Operations extends ById {}
