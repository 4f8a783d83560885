// Names of the reconcilers of images, for callers that trigger them.
export const PURGE = 'images.purge'
export const RENEW = 'images.renew'
export const COPY = 'images.copy'
