import type { Api } from '../api.ts'

/** A part of the API. Methods are thin: everything that could go wrong is handled in the pipeline. */
export class Resource {
  protected readonly api: Api

  constructor(api: Api) {
    this.api = api
  }
}
