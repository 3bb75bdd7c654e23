// The suite of what all engines share, as somebody with an engine of his own uses it.

import contract = require('fairlane/testing/contract')
import fairlane = require('fairlane')

const declared: string[] = []

contract({
  describe: (title, define) => { declared.push(title); define() },
  it: (title, run) => { declared.push(title); run().then(() => {}) },
  make: async (runner, options) => ({ queue: fairlane(runner as () => void, options), close: () => {} }),
  capabilities: contract.capabilitiesOf('memory'),
  entry: fairlane
})

const names: readonly contract.EngineName[] = contract.ENGINES
const { what, engines: [first] } = contract.CAPABILITIES['pushAll']!
what.length + first!.length + names.length
contract.contract === contract

// @ts-expect-error
contract.capabilitiesOf('tape')
// @ts-expect-error
contract({ describe: () => {}, it: () => {}, capabilities: [] })
