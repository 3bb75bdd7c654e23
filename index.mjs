// The import side of the package: the same functions and classes as require('fairlane'), so there is one copy of state.
import fairlane from './index.js'

export default fairlane
export const { Queue, FairlaneError, Throttled, Postponed, backoff, batches } = fairlane
