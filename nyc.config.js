'use strict'

const { program } = require('./test/support/redis-program')

module.exports = {
  all: true,
  include: ['index.js', 'lib/**/*.js', 'schedulers/**/*.js'],
  exclude: [
    'lib/board/client/**', // runs in browsers only: test/board/browser.test.js looks at what of it has run
    // many of their tests need a server; npm test says so where there is none
    ...(program === undefined ? ['lib/distributed/**', 'lib/cli/**'] : [])
  ],
  'check-coverage': true,
  lines: 100,
  branches: 100,
  functions: 100,
  statements: 100,
  reporter: ['text', 'html']
}
