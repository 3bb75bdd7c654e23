'use strict'

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const worker = require('node:worker_threads')
const { warn } = require('../../lib/arguments/errors')
require('../../lib/platform/clock') // what is loaded below must not be the first to load it: what it lends would be taken back from Node

const AFLOW = require.resolve('aflow/aflow')
const CLOCK = require.resolve('../../lib/platform/clock')
const CONTEXT = require.resolve('../../lib/platform/context')
const SIGNALS = require.resolve('../../lib/platform/signals')

describe('without the globals of Node', () => {
  describe('a deferred function', () => {
    it('comes with a message where there is no setImmediate', async () => {
      let channel
      class MessageChannel extends worker.MessageChannel {
        constructor () {
          super()
          channel = this
        }
      }
      const { defer } = withGlobals({ setImmediate: undefined, MessageChannel }, () => fresh(CLOCK))
      await assertDefers(defer)
      channel.port1.close()
    })

    it('comes with a timer where there is no MessageChannel either', async () => {
      const { defer } = withGlobals({ setImmediate: undefined, MessageChannel: undefined }, () => fresh(CLOCK))
      await assertDefers(defer)
    })
  })

  it('aflow is lent what it reads while it loads, and calls the microtask queue for the next tick', () => {
    const page = { env: {} }
    for (const process of [undefined, page]) {
      const { repeatUntil } = withGlobals({ global: undefined, process }, () => {
        const { takeBack } = fresh(CLOCK)
        const aflow = fresh(AFLOW)
        takeBack()
        assert.deepEqual(['global' in globalThis, globalThis.process], [false, process])
        return aflow
      })
      let callCount = 0
      repeatUntil(next => next(null, ++callCount === 100))
      assert.equal(callCount, 40)
    }
    assert.deepEqual(page, { env: {} })
  })

  for (const process of [undefined, {}]) {
    describe(process ? 'but with a substitute for process' : 'and without process', () => {
      it('nobody subscribes to a channel', () => {
        const channel = withGlobals({ process }, () => require('../../lib/platform/channels').channelOf('fairlane:queue'))
        assert.equal(channel.hasSubscribers, false)
        channel.publish({})
        assert.equal(channel.runStores({}, () => 7), 7)
      })

      it('the scope of a queue is the plain call', () => {
        const storage = new AsyncLocalStorage()
        const scope = storage.run('made', () => withGlobals({ process }, () => fresh(CONTEXT).asyncScope()))
        const self = {}
        const seen = storage.run('called', () => scope.runInAsyncScope(function (...args) {
          return [this, args, storage.getStore()]
        }, self, 1, 2))
        assert.deepEqual(seen, [self, [1, 2], 'called'])
      })

      it('an abort is listened to, also if another listener stops its event', () => {
        assertHears(withGlobals({ process }, () => fresh(SIGNALS)))
      })

      it('an abort is listened to as on any event target where signals can not follow each other', () => {
        const { listenTo } = withGlobals({ process }, () => fresh(SIGNALS))
        const { any } = AbortSignal
        AbortSignal.any = undefined
        try {
          const controller = new AbortController()
          let count = 0
          assert.equal(listenTo(controller.signal, () => { count++ }), controller.signal)
          controller.abort()
          assert.equal(count, 1)
        } finally {
          AbortSignal.any = any
        }
      })

      it('warnings go to the console', () => {
        const warnings = []
        const console = { warn: text => warnings.push(text) }
        withGlobals({ process, console }, () => warn('FAIRLANE_WARN_SETTLED_TWICE', 'Twice.'))
        assert.deepEqual(warnings, ['FairlaneWarning: [FAIRLANE_WARN_SETTLED_TWICE] Twice.'])
      })
    })
  }
})

describe('where addAbortListener() does not what it does in Node, as in Deno', () => {
  it('an abort is listened to, also if another listener stops its event', () => {
    const addAbortListener = (signal, listener) => signal.addEventListener('abort', listener)
    const builtIn = { 'node:events': { addAbortListener } }
    const process = { getBuiltinModule: name => builtIn[name] }
    assertHears(withGlobals({ process }, () => fresh(SIGNALS)))
  })
})

function assertHears ({ Signals, whenAborted }) {
  const controller = new AbortController()
  const { signal } = controller
  const heard = []
  const signals = new Signals((signal, tickets) => heard.push(...tickets))
  signal.addEventListener('abort', event => event.stopImmediatePropagation())
  signals.add(signal, 'first')
  signals.add(signal, 'second')
  signals.remove(signal, 'first')
  const other = new AbortController()
  signals.add(other.signal, 'third')
  signals.remove(other.signal, 'third')
  whenAborted(signal, () => heard.push('queue'))
  whenAborted(signal, () => heard.push('closed queue'))()
  other.abort()
  assert.deepEqual(heard, [])
  controller.abort()
  assert.deepEqual(heard, ['second', 'queue'])
}

/** Calls fn while the named globals have other values. */
function withGlobals (values, fn) {
  const saved = Object.keys(values).map(name => [name, Object.getOwnPropertyDescriptor(globalThis, name)])
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  }
  try {
    return fn()
  } finally {
    for (const [name, descriptor] of saved) Object.defineProperty(globalThis, name, descriptor)
  }
}

/** A module as it would be loaded now; the one that queues use stays. */
function fresh (file) {
  const loaded = require.cache[file]
  delete require.cache[file]
  try {
    return require(file)
  } finally {
    if (loaded === undefined) delete require.cache[file]
    else require.cache[file] = loaded
  }
}

async function assertDefers (defer) {
  const order = []
  const deferred = ['first', 'second'].map(name => new Promise(resolve => defer(() => {
    order.push(name)
    resolve()
  })))
  order.push('now')
  await Promise.resolve().then(() => order.push('microtask'))
  await Promise.all(deferred)
  assert.deepEqual(order, ['now', 'microtask', 'first', 'second'])
}
