'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const fairlane = require('../../..')
const { supports } = require('../../../lib/arguments/unsupported')
const { names } = require('../../../lib/core/unsupported')

describe('what queues on disk and at a broker have and one in memory has not', function () {
  it('is refused with a code, who has it and what to use', function () {
    const queue = fairlane(() => {})
    for (const name of names) {
      const whose = 'Queues (on disk|at a broker|on disk and at a broker)'
      const message = new RegExp(`^queue\\.${name}(\\(\\))? is not available in memory\\. ${whose} have it\\. .*\\b[Uu]se `)
      assert.throws(() => queue[name](1), { name: 'TypeError', code: 'FAIRLANE_ERR_UNSUPPORTED', message })
      assert.equal(supports(queue, [name]), false)
    }
    assert.ok(supports(queue, ['push', 'counts']))
    assert.equal(supports(queue, ['push', 'get']), false)
    assert.equal(supports({}, ['push']), false)
  })

  it('is in nobody\'s way who looks at the queue, or extends its class', function () {
    class Own extends fairlane.Queue {
      get (id) { return `own ${id}` }
    }
    const queue = new Own(() => {})
    assert.equal(queue.get(5), 'own 5')
    assert.deepEqual(Object.keys(queue).filter(name => names.includes(name)), [])
    for (const name in queue) assert.ok(!names.includes(name))
    assert.match(inspect(queue, { showHidden: true }), /Own/)
  })
})
