'use strict'

const neostandard = require('neostandard')

module.exports = [
  ...neostandard({
    ts: true,
    filesTs: ['**/*.mts'],
    ignores: [...neostandard.resolveIgnoresFromGitignore(), 'bench/results/**', 'docs/playground/**']
  }),
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
    rules: { strict: ['error', 'global'] }
  },
  {
    // Links, and texts that are one piece, may be longer.
    files: ['index.js', 'lib/**/*.js', 'schedulers/**/*.js', 'bench/**/*.js', 'test/**/*.js'],
    rules: { '@stylistic/max-len': ['error', { code: 140, ignoreUrls: true, ignoreTemplateLiterals: true, ignoreStrings: true, ignoreRegExpLiterals: true }] }
  },
  {
    files: ['test/**/*.js'],
    languageOptions: {
      globals: { describe: 'readonly', it: 'readonly', before: 'readonly', after: 'readonly', beforeEach: 'readonly', afterEach: 'readonly' }
    }
  },
  {
    files: ['lib/board/client/*.js'],
    languageOptions: {
      globals: { addEventListener: 'readonly', confirm: 'readonly', document: 'readonly', location: 'readonly' }
    }
  },
  {
    files: ['examples/playground/*.js'],
    languageOptions: {
      globals: {
        addEventListener: 'readonly',
        devicePixelRatio: 'readonly',
        document: 'readonly',
        getComputedStyle: 'readonly',
        history: 'readonly',
        location: 'readonly',
        matchMedia: 'readonly',
        requestAnimationFrame: 'readonly'
      }
    }
  },
  {
    // Declarations name things for others, and the type tests only have to compile.
    files: ['**/*.d.ts', '**/*.d.mts', 'test/types/**'],
    rules: Object.fromEntries(['no-unused-vars', 'no-unused-expressions', 'no-use-before-define', 'no-redeclare', 'no-new', 'new-cap']
      .flatMap(rule => [[rule, 'off'], [`@typescript-eslint/${rule}`, 'off']])
      .concat([['n/handle-callback-err', 'off']]))
  }
]
