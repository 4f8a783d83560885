/**
 * One plain address. Display names, comments, quotes and lists are refused, so that mail to it reaches nobody else: `<victim@x.com>,a` is
 * read by mail servers as an address of somebody else. Nor are characters that nobody sees, which make one address look like another.
 */
const PART = String.raw`[^\s.@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+`
export const EMAIL_PATTERN = `^${PART}(\\.${PART})*@${PART}(\\.${PART})*$`

const pattern = new RegExp(EMAIL_PATTERN)

export const isEmailAddress = (text: string): boolean => text.length <= 254 && pattern.test(text)
