'use strict'

/** How a program may look at what add() gives: name → (promise, told), which puts there what the promise rejects with. */
const LOOKS = {
  '.catch()': (promise, told) => { promise.catch(err => told.push(err)) },
  '.then().catch()': (promise, told) => { promise.then(() => {}).catch(err => told.push(err)) },
  'try and catch': async (promise, told) => {
    try {
      await promise
    } catch (err) {
      told.push(err)
    }
  }
}

module.exports = { LOOKS }
