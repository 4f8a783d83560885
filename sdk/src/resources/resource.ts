import type { Api } from '../api.ts'

/** Base of all resources. Methods only name the operation; the pipeline handles errors and retries. */
export class Resource {
  protected readonly api: Api

  constructor(api: Api) {
    this.api = api
  }
}
