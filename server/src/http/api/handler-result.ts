// What a handler may return, bound to the schema that its operation declares. Nothing checks a response while the server runs: it is
// sent by JSON.stringify as it is, so a missing field and one too many have to be errors of the compiler.
import type { Readable } from 'node:stream'
import type { ApiResponse, DryRunResult } from './mutation.ts'
import type { Static, TSchema } from './schema.ts'

/** The data itself, or a stream with a content type of its own. */
export type ReadResult<Data extends TSchema> = DataOf<Data> | Readable

/** The data itself, the data with a status of its own, or what a dry run found out. */
export type WriteResult<Data extends TSchema, DryRunData extends TSchema> =
  | DataOf<Data>
  | ApiResponse<DataOf<Data>>
  | DryRunResult<DataOf<DryRunData>>

/** What the schema describes. It is only read, so a handler may return what is `readonly`, such as a literal that TypeScript keeps as one. */
export type DataOf<Data extends TSchema> = ReadonlyDeep<Static<Data>>

type ReadonlyDeep<Shape> = Shape extends object ? { readonly [Field in keyof Shape]: ReadonlyDeep<Shape[Field]> } : Shape

/**
 * `Result`, where a field that the schema does not declare has the type `never`. TypeScript itself finds such a field only in a literal
 * whose type is written beside it, and not in what a callback returns.
 */
export type Exact<Result, Data extends TSchema, DryRunData extends TSchema = Data> = Result extends Readable
  ? Result
  : Result extends ApiResponse<infer Value>
    ? ApiResponse<ExactShape<Value, Static<Data>>>
    : Result extends DryRunResult<infer Value>
      ? DryRunResult<ExactShape<Value, Static<DryRunData>>>
      : ExactShape<Result, Static<Data>>

type ExactShape<Value, Shape> = unknown extends Shape
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly ExactShape<Item, ItemOf<Shape>>[]
    : Value extends object
      ? { [Field in keyof Value]: Field extends FieldOf<Shape> ? ExactShape<Value[Field], FieldTypeOf<Shape, Field>> : never }
      : Value

// Of any member of a union.
type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never
type FieldOf<Shape> = Shape extends object ? keyof Shape : never
type FieldTypeOf<Shape, Field> = Shape extends object ? (Field extends keyof Shape ? Shape[Field] : never) : never
