import process from 'node:process'

export default async payload => payload === 'exit' ? process.exit() : `default ${payload}`
export const named = payload => payload === 'exit' ? process.exit() : `named ${payload}`
export const answer = 42
