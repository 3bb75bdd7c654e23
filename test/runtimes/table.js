'use strict'

// What is run where. docs/reference/runtimes.md shows it, and test/docs/runtimes.test.js compares the two.

const chromium = require('../support/chromium')

const suite = ['test/{arguments,compat,core,durable,job,log,platform,property,schedulers,testing}/**/*.test.js']

const OF_NODE = 'Bun does not read payloads that Node.js has written with its own structured format'

const engines = [
  { name: 'Node.js 20', package: 'node20', command: tools => [tools.file('node20', 'bin/node')] },
  { name: 'Node.js 22', package: 'node22', command: tools => [tools.file('node22', 'bin/node')] },
  { name: 'Node.js 24', package: 'node24', command: tools => [tools.file('node24', 'bin/node')] },
  { name: 'Node.js 26', package: 'node26', command: tools => [tools.file('node26', 'bin/node')] },
  {
    name: 'Bun',
    package: 'bun',
    command: tools => [tools.bin('bun')],
    // the tests of this repository run there too, but for these
    except: {
      'refuses payloads that can not be encoded, and writes nothing': 'Bun has other words for what it cannot clone',
      'has its jobs, with their attempts, delays and errors, if it was closed': OF_NODE,
      'has its jobs if its process was killed, and nothing of what that left half written': OF_NODE,
      'has no segment of that version any more once all is rewritten': OF_NODE,
      'is there as it was whatever call to the disk fails while it is opened, and wherever the process dies then': OF_NODE,
      'has all jobs, dead letters, schedules and keys that it had': OF_NODE,
      'of what is no folder fails, and leaves nothing open': 'Bun gives EFAULT for ENOTDIR',
      'does not come for a runner that takes done, or may': 'Bun leaves comments out of the source of a function',
      "is the type 'class Plain {}'": 'Bun sets the source of a class in its own way',
      'are errors of their own, with code, message, cause, and a stack that tells the call': 'in Bun a stack that is set is an enumerable property'
    }
  },
  {
    name: 'Deno',
    package: 'deno',
    command: tools => [tools.bin('deno'), 'run', '--allow-all'],
    except: {
      'pushes and pops all that fits into files of that size, without a reserve': 'the test has a shell start a child with arguments of Node.js',
      '... and that without a crc of what follows each byte': 'the test replaces zlib.crc32, which Deno does not allow',
      'is respected by other processes, even while its holder is stopped, and taken over when its holder was killed':
        'Deno sends no second signal to a child, so the test cannot kill the one that it has stopped',
      'has one listener, however many jobs, which goes with the last of them': 'in Deno it is on a signal that follows, which the test cannot see'
    }
  }
]

// where each bundle is loaded; what `vite build` makes of a page needs the page
const bundlers = {
  esbuild: ['page', 'worker'],
  Vite: ['page'],
  webpack: ['page', 'worker'],
  Rollup: ['page', 'worker']
}

// `programs`: the names that they go by on one system or another; `variable`: says where it is
const browsers = [
  { name: 'Chromium', programs: chromium.NAMES, variable: 'CHROMIUM' },
  { name: 'Firefox', programs: ['firefox-esr', 'firefox'], variable: 'FIREFOX' }
]

module.exports = { suite, engines, bundlers, browsers }
