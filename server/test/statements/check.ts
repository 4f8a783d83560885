// Compares the row type that a call claims with what PostgreSQL says that its statement answers.
import { SymbolFlags, TypeFlags, type Project, type Type } from 'typescript/unstable/sync'
import type { Column } from './describe.ts'

export class RowChecker {
  readonly #checker: Project['checker']
  readonly #tables: Type

  /** `rowsFile`: src/schema/rows.gen.ts, where the types of columns come from. */
  constructor(project: Project, rowsFile: string) {
    this.#checker = project.checker
    const module = this.#checker.getSymbolAtLocation(project.program.getSourceFile(rowsFile)!)!
    this.#tables = this.#checker.getDeclaredTypeOfSymbol(this.#checker.getMemberInModuleExports(module, 'Tables')!)
  }

  /** What is wrong with the claim, one sentence each. */
  check(row: Type, columns: Column[]): string[] {
    if (row.flags & (TypeFlags.Unknown | TypeFlags.Any)) return []
    const byName = new Map(columns.map((column) => [column.name, column]))
    return this.#checker.getPropertiesOfType(row).flatMap((property) => {
      const claimed = this.#checker.getTypeOfSymbol(property)!
      const column = byName.get(property.name)
      if (!column) return property.flags & SymbolFlags.Optional ? [] : [`${property.name}: the statement does not return it`]
      const told = column.source ? ` (${column.source})` : ''
      const problems: string[] = []
      if (!this.#holds(claimed, column))
        problems.push(`${property.name}: ${column.type}${told} is not ${this.#checker.typeToString(claimed)}`)
      const isBelieved = /:\s*NotNull</.test(property.valueDeclaration?.resolve()?.getText() ?? '')
      if (column.nullable && !isBelieved && !this.#checker.isTypeAssignableTo(this.#checker.getNullType(), claimed))
        problems.push(`${property.name}: may be null${told}, and the type says that it is not`)
      return problems
    })
  }

  #holds(claimed: Type, { type, source }: Column): boolean {
    if (type === 'json' || type === 'jsonb') return true
    const listed = source && this.#columnType(source)
    if (listed && this.#checker.isTypeAssignableTo(listed, claimed)) return true
    return this.#isOf(type, claimed, source === undefined)
  }

  /** The generated type, where it says more than the type of PostgreSQL does. */
  #columnType(source: string): Type | undefined {
    const [, table, column] = /^(.+)\.(\w+)$/.exec(source)!
    const symbol = this.#checker.getPropertyOfType(this.#tables, table!)
    const found = symbol && this.#checker.getPropertyOfType(this.#checker.getTypeOfSymbol(symbol)!, column!)
    return found && this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(found)!)
  }

  /** `isExpression`: of text that a statement makes itself the compiler cannot know the list of values, so a list is believed. */
  #isOf(type: string, claimed: Type, isExpression: boolean): boolean {
    if (type.endsWith('[]')) return this.#isArrayOf(type.slice(0, -2), claimed, isExpression)
    const real = this.#realType(type)
    if (real === undefined) return false
    if (this.#checker.isTypeAssignableTo(real, claimed)) return true
    return isExpression && this.#checker.isTypeAssignableTo(this.#checker.getNonNullableType(claimed)!, real)
  }

  #isArrayOf(element: string, claimed: Type, isExpression: boolean): boolean {
    const array = this.#checker.getNonNullableType(claimed)!
    if (!this.#checker.isArrayType(array)) return false
    const [claimedElement] = this.#checker.getTypeArguments(array as never)
    if (element === 'json' || element === 'jsonb') return true
    return claimedElement !== undefined && this.#isOf(element === 'int8' ? 'text' : element, claimedElement, isExpression)
  }

  #realType(type: string): Type | undefined {
    switch (type) {
      case 'bool':
        return this.#checker.getBooleanType()
      case 'int8':
        return this.#checker.getBigIntType()
      case 'int2':
      case 'int4':
      case 'float4':
      case 'float8':
      case 'oid':
        return this.#checker.getNumberType()
      case 'timestamptz':
      case 'date':
        return this.#global('Date')
      case 'bytea':
        return this.#global('Buffer')
      case 'text':
      case 'name':
      case 'numeric':
      case 'inet':
      case 'cidr':
      case 'macaddr':
      case 'uuid':
        return this.#checker.getStringType()
      default:
        return undefined
    }
  }

  #global(name: string): Type {
    return this.#checker.getDeclaredTypeOfSymbol(this.#checker.resolveName(name, SymbolFlags.Type)!)
  }
}
