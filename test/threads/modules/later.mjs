// Throws while it is loaded, in a later turn.

setImmediate(() => { throw new Error('later') })
await new Promise(() => {})
