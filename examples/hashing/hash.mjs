// What each thread does: a password is hashed so that it takes long, about 50 ms of one CPU. service.mjs sends the jobs.

import { randomBytes, scryptSync } from 'node:crypto'

export default function hash (password, { type }) {
  const salt = randomBytes(16)
  const key = scryptSync(password, salt, 32, { N: 2 ** 14 })
  return `${type}: ${salt.toString('hex')}:${key.toString('hex')}`
}
