/**
 * One plain address. Display names, comments, quotes and lists are refused, so that mail to it reaches nobody else: `<victim@x.com>,a` is
 * read by mail servers as an address of somebody else.
 */
export const EMAIL_PATTERN = String.raw`^[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+@[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+$`

const pattern = new RegExp(EMAIL_PATTERN)

export const isEmailAddress = (text: string): boolean => text.length <= 254 && pattern.test(text)
