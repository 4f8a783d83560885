import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { responsesOf, type Operation } from '../src/http/api/operation.ts'

const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false })
formats.default(ajv)

/** What a response contains that its schema does not allow, including unknown fields. */
export function undocumented(operation: Operation, status: number, answer: unknown): string[] {
  const schema = new Map(responsesOf(operation, operation.paged)).get(status)
  if (!schema) return [`${status} is not documented`]
  const validate = ajv.compile(schema)
  return validate(answer) ? [] : validate.errors!.map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`)
}
